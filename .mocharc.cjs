// npm test names the files; see scripts/test.mjs.
module.exports = {
  timeout: 20_000,
  forbidOnly: Boolean(process.env.CI),
  require: ['./dist/test/support/hooks.js'],
};
