import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What became of requests, where nothing that they made says so. (docs/decisions/0034-what-became-of-a-request.md) */
const STATEMENTS = [
  `CREATE TABLE IF NOT EXISTS requests (
    id BINARY(16) NOT NULL, tenant_id BINARY(16) NOT NULL, member_id BINARY(16) NOT NULL, operation VARCHAR(40) NOT NULL,
    method VARCHAR(8) NOT NULL, path VARCHAR(200) NOT NULL, status SMALLINT NOT NULL, code VARCHAR(40) NULL,
    resource_type VARCHAR(20) NULL, resource_id BINARY(16) NULL,
    PRIMARY KEY (id)) ENGINE=InnoDB DEFAULT CHARACTER SET ascii COLLATE ascii_bin`,
];

export class Requests1763746810000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
  }

  down(): Promise<void> {
    throw new Error('a ledger only goes forward: restore a dump instead');
  }
}
