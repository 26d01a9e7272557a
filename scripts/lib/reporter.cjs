const { writeSync } = require('node:fs');
const { relative } = require('node:path');
const { Spec } = require('mocha').reporters;

/** The pipe that test.mjs reads. */
const COUNTS = 3;
/** So many files are shown with their time, where there are more. */
const SLOWEST = 15;

/**
 * Mocha's usual report, and below it the files that took longest. The counts go to test.mjs, which prints them as the last
 * line of all.
 */
module.exports = class extends Spec {
  constructor(runner, options) {
    super(runner, options);
    this.times = new Map();
    const add = ({ file, duration }) => {
      if (file) this.times.set(file, (this.times.get(file) ?? 0) + (duration ?? 0));
    };
    runner.on('test end', add);
    runner.on('hook end', add);
  }

  epilogue() {
    super.epilogue();
    if (this.times.size > SLOWEST) this.showSlowest();
    writeSync(COUNTS, JSON.stringify({ passed: this.stats.passes, failed: this.stats.failures }));
  }

  showSlowest() {
    const slowest = [...this.times].sort(([, a], [, b]) => b - a).slice(0, Number(process.env.SHOW_SLOWEST ?? SLOWEST));
    console.log('  slowest files\n');
    for (const [file, ms] of slowest)
      console.log(
        `    ${(ms / 1000).toFixed(1).padStart(6)} s  ${relative(process.cwd(), file).replace(/^dist\//, '')}`,
      );
    console.log();
  }
};
