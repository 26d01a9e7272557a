const { existsSync, mkdtempSync, readFileSync, rmSync, writeSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join, relative } = require('node:path');
const { Spec } = require('mocha').reporters;

/** The pipe that test.mjs reads. */
const COUNTS = 3;
/** Number of slow files that are listed if there are more files. SHOW_SLOWEST sets another number. */
const SLOWEST = 15;

/**
 * Prints mocha's usual report, then the slowest files with their CPU time, which includes programs that a test starts
 * and ends but not the shared servers. Passes the counts to test.mjs, which prints them as the last line.
 */
module.exports = class extends Spec {
  constructor(runner, options) {
    super(runner, options);
    this.times = new Map();
    this.folder = mkdtempSync(join(tmpdir(), 'money-tests-'));
    process.env.TEST_CPU_LOG = join(this.folder, 'cpu');
    const add = ({ file, duration }) => {
      if (file) this.times.set(file, (this.times.get(file) ?? 0) + (duration ?? 0));
    };
    runner.on('test end', add);
    runner.on('hook end', add);
  }

  epilogue() {
    super.epilogue();
    const count = Number(process.env.SHOW_SLOWEST ?? 0);
    if (count > 0 || this.times.size > SLOWEST) this.showSlowest(count || SLOWEST);
    rmSync(this.folder, { recursive: true, force: true });
    writeSync(COUNTS, JSON.stringify({ passed: this.stats.passes, failed: this.stats.failures }));
  }

  showSlowest(count) {
    const slowest = [...this.times].sort(([, a], [, b]) => b - a).slice(0, count);
    const used = this.cpuSeconds();
    const column = (seconds) => `${seconds.toFixed(1).padStart(7)} s`;
    console.log('  slowest files: duration, CPU time\n');
    for (const [file, ms] of slowest)
      console.log(
        `  ${column(ms / 1000)}${column(used.get(file) ?? 0)}  ${relative(process.cwd(), file).replace(/^dist\//, '')}`,
      );
    console.log();
  }

  /** Returns the CPU time of each file, which test/helpers/hooks.ts has written. */
  cpuSeconds() {
    const log = process.env.TEST_CPU_LOG;
    const lines = existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [];
    return new Map(lines.map((line) => [line.slice(line.indexOf(' ') + 1), parseFloat(line)]));
  }
};
