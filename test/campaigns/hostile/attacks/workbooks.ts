import { MAIN, sheetXml, stringsXml, workbook } from '../../../spreadsheets/workbooks.js';
import type { PayrollBank } from '../../../helpers/batch-workflows.js';
import type { Uuid } from '../../../../src/core/ids.js';
import type { Attack } from '../battlefield.js';

/** Small files that cost much. */

const ATTACKERS = 10;

/** Each tenant uploads the file so often, and waits until all are rejected. */
async function uploadedBy(
  attackers: readonly PayrollBank[],
  file: Buffer,
  each: number,
): Promise<string> {
  const began = performance.now();
  await Promise.all(
    attackers.map(async (attacker) => {
      const ids: Uuid[] = [];
      for (let sent = 0; sent < each; sent += 1) ids.push(await attacker.upload(file));
      for (const id of ids) await untilRejected(attacker, id);
    }),
  );
  const seconds = Math.round((performance.now() - began) / 1000);
  return `${attackers.length * each} files of ${Math.round(file.length / 1024)} KiB by ${attackers.length} tenants rejected in ${seconds} s`;
}

/** Uploads wait for their turn, longer than usual. */
async function untilRejected(attacker: PayrollBank, id: Uuid): Promise<void> {
  while ((await attacker.read(id)).status !== 'rejected')
    await new Promise((resolve) => setTimeout(resolve, 250));
}

/** The worker's thread was busy with one of these for a hundred seconds. */
export const formatCodes: Attack = {
  name: 'format codes',
  run: async (field) => {
    const tag = `<numFmt numFmtId="200" formatCode="${'['.repeat(1_000)}"/>`;
    const styles = `<styleSheet xmlns="${MAIN}"><numFmts>${tag.repeat(195_000)}</numFmts></styleSheet>`;
    return uploadedBy(
      await field.attackers(ATTACKERS),
      workbook(sheetXml(''), { 'xl/styles.xml': styles }),
      1,
    );
  },
};

/** Each of these held 128 MiB of the worker's memory, and all were read at a time. */
export const sharedStrings: Attack = {
  name: 'shared strings',
  run: async (field) => {
    const strings = stringsXml('<si><t>ab</t></si>'.repeat(1_900_000));
    const file = workbook(sheetXml(''), { 'xl/sharedStrings.xml': strings });
    return uploadedBy(await field.attackers(ATTACKERS), file, 4);
  },
};
