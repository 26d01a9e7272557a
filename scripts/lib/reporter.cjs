const { writeSync } = require('node:fs');
const { Spec } = require('mocha').reporters;

/** The pipe that test.mjs reads. */
const COUNTS = 3;

/** Mocha's usual report; the counts go to test.mjs, which prints them as the last line of all. */
module.exports = class extends Spec {
  epilogue() {
    super.epilogue();
    writeSync(COUNTS, JSON.stringify({ passed: this.stats.passes, failed: this.stats.failures }));
  }
};
