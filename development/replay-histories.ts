import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, Connection, type HistoryAndWorkflowId } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import { BUNDLE_FILE } from '../src/temporal/workers.js';
import { messageOf } from '../src/temporal/failures.js';
import { connectionOptions, type TemporalOptions } from '../src/temporal/connection-options.js';
import { WORKFLOW_TYPES, type WorkflowType } from '../src/temporal/contracts.js';

/**
 * Replays histories of finished or open workflows on this build's workflows: would they continue?
 */

export interface Replayed {
  /** Replayed workflows, in words. */
  readonly what: string;
  readonly histories: number;
  /** The workflows that would fail, and why. */
  readonly failures: readonly string[];
}

/**
 * Replays workflows in a thread, as in a worker. In this thread the SDK would leave hooks behind on
 * every promise and stack trace, which slow down later tests several times. The SDK's types do not
 * have the option.
 */
export const IN_A_THREAD = { debugMode: false };

/** If a namespace has more of a type, the sample is taken from these. */
const MAX_LISTED = 20_000;
const PAGE = 1_000;

/** The histories in the repository. */
export function replayRecorded(folder: string): Promise<Replayed> {
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  const histories = names.map((name) => ({
    workflowId: name,
    history: JSON.parse(readFileSync(join(folder, name), 'utf8')) as unknown,
  }));
  return replay(`recorded histories in ${folder}`, histories);
}

/**
 * A sample of the open workflows of each type, spread over all of them. A terminated one is not
 * open.
 */
export async function replayOpen(
  options: TemporalOptions,
  sample: number,
): Promise<readonly Replayed[]> {
  const connection = await Connection.connect(connectionOptions(options));
  const client = new Client({ connection, namespace: options.namespace });
  try {
    const replayed: Replayed[] = [];
    for (const type of WORKFLOW_TYPES) {
      const open = await listOpen(client, type);
      const chosen = spread(open, sample);
      replayed.push(
        await replay(`of ${open.length} open workflows ${type}`, historiesOf(client, chosen)),
      );
    }
    return replayed;
  } finally {
    await connection.close();
  }
}

interface OpenRun {
  readonly workflowId: string;
  readonly runId: string;
}

async function listOpen(client: Client, type: WorkflowType): Promise<readonly OpenRun[]> {
  const query = `WorkflowType="${type}" AND ExecutionStatus="Running"`;
  const found: OpenRun[] = [];
  for await (const { workflowId, runId } of client.workflow.list({ query, pageSize: PAGE })) {
    found.push({ workflowId, runId });
    if (found.length === MAX_LISTED) break;
  }
  return found;
}

/** Evenly spaced items: the list is in order of start. */
function spread<T>(all: readonly T[], count: number): readonly T[] {
  const step = Math.max(1, all.length / count);
  return all.filter((_, index) => Math.floor(index / step) !== Math.floor((index - 1) / step));
}

async function* historiesOf(
  client: Client,
  runs: readonly OpenRun[],
): AsyncGenerator<HistoryAndWorkflowId> {
  for (const { workflowId, runId } of runs) {
    const history = await client.workflow
      .getHandle(workflowId, runId)
      .fetchHistory()
      // The workflow has ended and was removed after it was listed.
      .catch(() => null);
    if (history !== null) yield { workflowId, history };
  }
}

async function replay(
  what: string,
  histories: AsyncIterable<HistoryAndWorkflowId> | Iterable<HistoryAndWorkflowId>,
): Promise<Replayed> {
  const results = Worker.runReplayHistories(
    { ...IN_A_THREAD, workflowBundle: { codePath: BUNDLE_FILE } },
    histories,
  );
  const failures: string[] = [];
  let count = 0;
  for await (const { workflowId, error } of results) {
    count += 1;
    if (error !== undefined) failures.push(`${workflowId}: ${messageOf(error)}`);
  }
  return { what, histories: count, failures };
}
