import type { MigrationInterface, QueryRunner } from 'typeorm';
import { addWord } from '../src/db/enum-words.js';

/** Records which lines of a rail's statements a corrected statement has replaced, and adds two reasons to raise a payout. */
const STATEMENTS = [
  `CREATE TABLE payout_superseded_lines (
    statement_id BINARY(16) NOT NULL, number INT NOT NULL,
    rail VARCHAR(40) CHARACTER SET ascii COLLATE ascii_bin NOT NULL, payout_key BINARY(16) NOT NULL,
    PRIMARY KEY (statement_id, number), KEY payment (rail, payout_key))
    ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`,
  `INSERT IGNORE INTO payout_superseded_lines (statement_id, number, rail, payout_key)
   SELECT l.statement_id, l.number, l.rail, l.payout_key
   FROM payout_statement_lines l JOIN payout_statements s ON s.id=l.statement_id
   WHERE EXISTS (SELECT 1 FROM payout_statements n WHERE n.rail=s.rail AND n.day=s.day AND n.version>s.version)`,
];

export class SupersededLines1763746890000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of STATEMENTS) await runner.query(statement);
    for (const word of ['account_closed', 'overflow']) await addWord(runner, word, 'stuck_reason', ['payouts']);
  }

  down(): Promise<void> {
    throw new Error('a ledger only goes forward: restore a dump instead');
  }
}
