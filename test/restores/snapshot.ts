import { RowCopier } from '../campaigns/restored-copies.js';
import type { TestDatabase } from '../support/database.js';

/** A consistent copy of a database's tables on the same server, taken while it is in use. */
export class Snapshot {
  private constructor(
    private readonly db: TestDatabase,
    private readonly copier: RowCopier,
  ) {}

  static async take(db: TestDatabase): Promise<Snapshot> {
    const copier = new RowCopier(db, db.adminUrl);
    await copier.prepare();
    await copier.moment();
    return new Snapshot(db, copier);
  }

  /** Puts the copies in the tables' places at one moment. Connections and grants stay as they are. */
  async putBack(): Promise<void> {
    const { db } = this;
    const tables = await db.sql(
      `SELECT table_name AS name FROM information_schema.tables WHERE table_schema='${db.name}'`,
    );
    await db.sql(`CREATE DATABASE ${db.name}_lost`);
    const moves = tables.flatMap(({ name }) => [
      `${db.name}.\`${String(name)}\` TO ${db.name}_lost.\`${String(name)}\``,
      `${db.name}_copy.\`${String(name)}\` TO ${db.name}.\`${String(name)}\``,
    ]);
    await db.sql(`RENAME TABLE ${moves.join(', ')}`);
  }

  async remove(): Promise<void> {
    await this.copier.remove();
    await this.db.sql(`DROP DATABASE IF EXISTS ${this.db.name}_lost`);
  }
}
