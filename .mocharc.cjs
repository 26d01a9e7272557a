// npm test names the files; see scripts/test.mjs.
module.exports = {
  // What hangs hangs for ever; what is slow may be so for a busy machine.
  timeout: 60_000,
  forbidOnly: Boolean(process.env.CI),
  require: ['./dist/test/support/hooks.js'],
};
