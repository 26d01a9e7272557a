// npm test names the files; see scripts/test.mjs.
module.exports = {
  // What hangs hangs for ever; on a busy machine what takes seconds may take minutes, and a wait of five says more than this.
  timeout: 600_000,
  forbidOnly: Boolean(process.env.CI),
  require: ['./dist/test/helpers/hooks.js'],
};
