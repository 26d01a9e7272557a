import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { startTestApi, type TestApi } from '../helpers/api.js';
import { object } from '../helpers/bank.js';
import type { TestDatabase } from '../helpers/database.js';
import { DemoWorld } from '../helpers/demo-world.js';
import { ROOT } from '../helpers/service-process.js';
import { newNamespace, sharedAddress, temporalEnvironment } from '../helpers/temporal.js';
import { startTestWorker, type TestWorker } from '../helpers/temporal-worker.js';

/** The whole service with the demo world, as npm start has it, and a folder in which the client is installed. */
export class LiveService {
  private constructor(
    private readonly demo: DemoWorld,
    private readonly api: TestApi,
    private readonly worker: TestWorker,
  ) {}

  static async start(): Promise<LiveService> {
    const demo = await DemoWorld.make('live');
    const { db, folder } = demo;
    const temporal = await newNamespace(sharedAddress(), db.name);
    const [api, worker] = await Promise.all([
      startTestApi(db, temporalEnvironment(temporal), { receiver: 'real' }),
      startTestWorker(db, temporal),
    ]);
    const world = { base_url: api.baseUrl, ...object(JSON.parse(demo.json)) };
    writeFileSync(join(folder, 'demo.json'), JSON.stringify(world));
    installClient(folder);
    return new LiveService(demo, api, worker);
  }

  get db(): TestDatabase {
    return this.demo.db;
  }

  /** With node_modules/money-movement-client, and the demo world in demo.json. */
  get folder(): string {
    return this.demo.folder;
  }

  get baseUrl(): string {
    return this.api.baseUrl;
  }

  /** Of acme in the demo world. */
  token(name?: string): string {
    return this.demo.token(name);
  }

  account(name: string): string {
    return this.demo.account(name);
  }

  /** The environment of a program of acme's. */
  environment(): Record<string, string> {
    return { SVC_URL: this.baseUrl, SVC_TOKEN: this.token(), PATH: process.env.PATH ?? '' };
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
    await this.demo.remove();
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
