import { copyFileSync, cpSync, existsSync, mkdirSync, rmdirSync, symlinkSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { importScript } from './scripts.js';

/** Where the images have their tables, their entry and what is mounted beside them. */
const ETC = '/etc/temporal';

/** The content of Temporal's images, for its processes of docker-compose.yml: built from its own module. */
export class TemporalImages {
  private constructor(
    /** Where its programs are, by the names that the images give them. */
    readonly bin: string,
    private readonly etc: string,
    private readonly hasMadePlace: boolean,
  ) {}

  static async build(folder: string): Promise<TemporalImages> {
    const [{ findTemporal }, { findOrBuildTemporalServer }] = await Promise.all([
      importScript<{ findTemporal(): Promise<string> }>('find-temporal.mjs'),
      importScript<{ findOrBuildTemporalServer(): Promise<string> }>('temporal-server.mjs'),
    ]);
    const cli = await findTemporal();
    const server = await findOrBuildTemporalServer();
    const [bin, etc] = [join(folder, 'temporal-bin'), join(folder, 'temporal-etc')];
    cpSync(join(server, 'etc'), etc, { recursive: true });
    mkdirSync(bin);
    symlinkSync(cli, join(bin, 'temporal'));
    for (const name of ['temporal-server', 'temporal-sql-tool'])
      symlinkSync(join(server, 'bin', name), join(bin, name));
    // A mount needs a place, which a container has of its image.
    const hasMadePlace = !existsSync(ETC);
    if (hasMadePlace) mkdirSync(ETC);
    return new TemporalImages(bin, etc, hasMadePlace);
  }

  /** The folder that replaces the one mounted into a service, with its content. */
  mounts(wanted: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
    const [own, others] = [true, false].map((isOwn) =>
      Object.entries(wanted).filter(([seenAt]) => (dirname(seenAt) === ETC) === isOwn),
    );
    for (const [seenAt, from] of own ?? [])
      copyFileSync(resolve(from), join(this.etc, basename(seenAt)));
    return { ...Object.fromEntries(others ?? []), [ETC]: this.etc };
  }

  close(): void {
    if (this.hasMadePlace) rmdirSync(ETC);
  }
}
