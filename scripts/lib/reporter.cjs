const { existsSync, mkdtempSync, readFileSync, rmSync, writeSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join, relative } = require('node:path');
const { Spec } = require('mocha').reporters;

/** The pipe that test.mjs reads. */
const COUNTS = 3;
/** So many files are shown with their time, where there are more or SHOW_SLOWEST says how many. */
const SLOWEST = 15;

/**
 * Mocha's usual report, and below it the files that took longest, with what each used of the processors: its own process
 * and the programs that it started and ended, not the servers that all share. The counts go to test.mjs, which prints
 * them as the last line of all.
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
    const wanted = Number(process.env.SHOW_SLOWEST ?? 0);
    if (wanted > 0 || this.times.size > SLOWEST) this.showSlowest(wanted || SLOWEST);
    rmSync(this.folder, { recursive: true, force: true });
    writeSync(COUNTS, JSON.stringify({ passed: this.stats.passes, failed: this.stats.failures }));
  }

  showSlowest(count) {
    const slowest = [...this.times].sort(([, a], [, b]) => b - a).slice(0, count);
    const used = this.cpuSeconds();
    const column = (seconds) => `${seconds.toFixed(1).padStart(7)} s`;
    console.log('  slowest files: in all, and of a processor\n');
    for (const [file, ms] of slowest)
      console.log(
        `  ${column(ms / 1000)}${column(used.get(file) ?? 0)}  ${relative(process.cwd(), file).replace(/^dist\//, '')}`,
      );
    console.log();
  }

  /** Of each file, as test/support/hooks.ts wrote it. */
  cpuSeconds() {
    const log = process.env.TEST_CPU_LOG;
    const lines = existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [];
    return new Map(lines.map((line) => [line.slice(line.indexOf(' ') + 1), parseFloat(line)]));
  }
};
