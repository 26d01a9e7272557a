import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ts from 'typescript';
import { makeDemoWorld } from '../ops/ops.js';
import { startTestApi, type TestApi } from '../support/api.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { object, text } from '../support/bank.js';
import { ROOT } from '../support/service-process.js';
import { newNamespace, sharedAddress, temporalEnvironment } from '../support/temporal.js';
import { startTestWorker, type TestWorker } from '../support/temporal-worker.js';

/** The whole service with the demo world, as npm start has it, and a folder in which the client is installed. */
export class LiveService {
  private constructor(
    readonly db: TestDatabase,
    private readonly api: TestApi,
    private readonly worker: TestWorker,
    /** With node_modules/money-movement-client, and the demo world in demo.json. */
    readonly folder: string,
  ) {}

  static async start(): Promise<LiveService> {
    const adminUrl = process.env.TEST_MYSQL_ADMIN_URL;
    assert.ok(adminUrl, 'TEST_MYSQL_ADMIN_URL is not set');
    const db = await freshDatabase(
      adminUrl,
      `money_live_${process.env.MOCHA_WORKER_ID ?? '0'}_${process.pid}`,
    );
    const temporal = await newNamespace(sharedAddress(), db.name);
    const folder = mkdtempSync(join(tmpdir(), 'live-service-'));
    const made = await makeDemoWorld(db.url, folder);
    const [api, worker] = await Promise.all([
      startTestApi(db, temporalEnvironment(temporal), { receiver: 'real' }),
      startTestWorker(db, temporal),
    ]);
    const world = { base_url: api.baseUrl, ...object(JSON.parse(made)) };
    writeFileSync(join(folder, 'demo.json'), JSON.stringify(world));
    installClient(folder);
    return new LiveService(db, api, worker, folder);
  }

  get baseUrl(): string {
    return this.api.baseUrl;
  }

  /** Of acme in the demo world. */
  token(name = 'owner'): string {
    return text(object(this.acme().tokens)[name]);
  }

  account(name: string): string {
    return text(object(object(this.acme().accounts)[name]).id);
  }

  /** What a program of acme's has in its environment. */
  environment(): Record<string, string> {
    return { MONEY_URL: this.baseUrl, MONEY_TOKEN: this.token(), PATH: process.env.PATH ?? '' };
  }

  /** Writes TypeScript as a module that Node can run beside the client, and answers its path. */
  module(name: string, source: string): string {
    const compilerOptions = {
      module: ts.ModuleKind.ESNext,
      target: ts.ScriptTarget.ES2022,
      verbatimModuleSyntax: true,
    };
    const file = join(this.folder, name);
    writeFileSync(file, ts.transpileModule(source, { compilerOptions }).outputText);
    return file;
  }

  async stop(): Promise<void> {
    await Promise.all([this.api.stop(), this.worker.stop()]);
    rmSync(this.folder, { recursive: true });
    await this.db.sql(`DROP DATABASE ${this.db.name}`);
    await this.db.sql(`DROP USER '${this.db.name}'@'%'`);
    await this.db.close();
  }

  private acme(): ReturnType<typeof object> {
    const world = object(JSON.parse(readFileSync(join(this.folder, 'demo.json'), 'utf8')));
    return object(object(world.tenants).acme);
  }
}

/** As npm install does with the package: its package.json, and its dist as it is compiled here. */
function installClient(folder: string): void {
  const place = join(folder, 'node_modules/money-movement-client');
  mkdirSync(place, { recursive: true });
  writeFileSync(
    join(place, 'package.json'),
    readFileSync(join(ROOT, 'packages/client/package.json')),
  );
  symlinkSync(join(ROOT, 'dist/packages/client/src'), join(place, 'dist'));
}
