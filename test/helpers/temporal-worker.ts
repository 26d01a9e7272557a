import { buildSender } from '../../src/processes/build-webhooks.js';
import { buildCore, type Core } from '../../src/processes/build-core.js';
import { type OpenWorker, openWorker } from '../../src/processes/build-worker.js';
import { readWorkerConfig } from '../../src/config/config.js';
import type { Clock } from '../../src/core/instant.js';
import { createLogging } from '../../src/http/logging.js';
import { installRuntime } from '../../src/temporal/workers.js';
import { stoppedAfterTests } from './after-tests.js';
import { PATIENT, testEnvironment } from './api.js';
import type { TestDatabase } from './database.js';
import { type TemporalAddress, temporalEnvironment, until } from './temporal.js';
import { asDatabaseClock } from './world.js';

/** Warnings of the SDK in this process: none, unless a test provokes one. */
export const sdkWarnings: string[] = [];
let isInstalled = false;

/** The SDK of this process, its warnings kept to be looked at. */
export function installRuntimeOnce(): void {
  if (isInstalled) return;
  isInstalled = true;
  installRuntime(
    {
      info: () => undefined,
      warn: (about, message) => void sdkWarnings.push(`${message} ${JSON.stringify(about)}`),
    },
    0,
  );
}

/** The worker of the service in this process. */
export interface TestWorker {
  readonly core: Core;
  readonly opened: OpenWorker;
  readonly adminUrl: string;
  stop(): Promise<void>;
}

interface TestWorkerDeps {
  readonly clock?: Clock;
  /** False where the workflows shall be alone: the sweeper's loops end with their first round. */
  readonly sweeps?: boolean;
  /** False where Temporal is away: nothing would ever poll. */
  readonly polls?: boolean;
  /** How long an attempt to deliver a webhook may take. */
  readonly attemptTimeoutMs?: number;
  readonly environment?: Readonly<Record<string, string>>;
}

/** The worker's parts over the database and this Temporal; resolves when they work. They are stopped after the last test of the file at the latest. */
export async function startTestWorker(
  { url }: Pick<TestDatabase, 'url'>,
  temporal: TemporalAddress,
  { clock, sweeps = true, polls = true, attemptTimeoutMs, environment = {} }: TestWorkerDeps = {},
): Promise<TestWorker> {
  installRuntimeOnce();
  const own = { ...temporalEnvironment(temporal), ADMIN_PORT: '0', SHUTDOWN_GRACE_MS: '5000' };
  const config = readWorkerConfig(testEnvironment(url, { ...PATIENT, ...own, ...environment }));
  const { logger } = createLogging(config.LOG_LEVEL, 'worker', { write: () => undefined });
  const core = buildCore(config, logger, { databaseClock: clock && asDatabaseClock(clock) });
  const opened = await openWorker(config, core, { sender: buildSender(config, attemptTimeoutMs) });
  if (!sweeps) await opened.sweeper.stop();
  if (polls) await until('the worker polls', () => opened.workers.isPolling);
  return {
    core,
    opened,
    adminUrl: `http://127.0.0.1:${opened.adminPort}`,
    stop: stoppedAfterTests(() => opened.stop()),
  };
}
