/** Reports the suite's progress. Only results go to stdout. */
export function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
