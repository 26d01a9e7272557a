import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { createConnection } from 'mysql2/promise';

/** The CPU time that a process has used, in milliseconds; null except on Linux. */
export function cpuMsOf(pid: number | undefined): number | null {
  try {
    // Fields 14 and 15, in hundredths of a second; the second field may contain spaces.
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ')[1]?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return null;
  }
}

/** Returns a function that returns how much the figure has grown since this call. */
export function growthOf(figure: () => number | null): () => number | null {
  const before = figure();
  return () => {
    const after = figure();
    return before === null || after === null ? null : after - before;
  };
}

export function perRequestUs(spentMs: number | null, requests: number): number | null {
  return spentMs === null ? null : (spentMs * 1000) / requests;
}

/** The time that all processors together were idle or waited for a disk, in milliseconds; null except on Linux. */
export function idleMs(): number | null {
  try {
    // The first line sums all processors: user, nice, system, idle, iowait, and more, in hundredths of a second.
    const [, , , , idle, wait] = readFileSync('/proc/stat', 'latin1').split(/ +/, 6);
    return (Number(idle) + Number(wait)) * 10;
  } catch {
    return null;
  }
}

/** A process's peak resident memory, in MB (10^6 bytes); null except on Linux. */
export function peakMbOf(pid: number | undefined): number | null {
  try {
    const kib = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
    return kib === undefined ? null : (Number(kib) * 1024) / 1e6;
  } catch {
    return null;
  }
}

/** The process of a database server on this machine; undefined for one elsewhere. */
export async function databasePid(adminUrl: string): Promise<number | undefined> {
  const connection = await createConnection({ uri: adminUrl });
  try {
    const [rows] = await connection.query('SELECT @@datadir AS folder, @@pid_file AS file');
    const [row] = rows as { folder: string; file: string }[];
    return row === undefined
      ? undefined
      : Number(readFileSync(resolve(row.folder, row.file), 'latin1'));
  } catch {
    return undefined;
  } finally {
    await connection.end();
  }
}
