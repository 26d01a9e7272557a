import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';

/** docker-compose.yml as Compose understands it, as far as processes go. */

const words = z.array(z.string()).default([]);
const service = z.looseObject({
  entrypoint: words,
  command: words,
  environment: z.record(z.string(), z.string()).default({}),
  secrets: words,
  volumes: words,
  scale: z.number().default(1),
  healthcheck: z.object({ test: z.array(z.string()) }).optional(),
});
export type ComposedService = z.infer<typeof service>;

const file = z.looseObject({ services: z.record(z.string(), service) });
const network = z.looseObject({
  networks: z.looseObject({
    inside: z.looseObject({
      ipam: z.object({ config: z.tuple([z.object({ subnet: z.string() })]) }),
    }),
  }),
});

/** Every service with the variables that `environment` has, or the file's defaults. Our own image's command where none is said. */
export function readComposeFile(environment: Readonly<Record<string, string>>): {
  readonly services: Readonly<Record<string, ComposedService>>;
  /** `10.0.0.0/24` */
  readonly subnet: string;
} {
  const filled = (text: string): string =>
    text
      .replace(
        /\$\{([A-Z_]+):-([^}]*)\}/g,
        (_, name: string, fallback: string) => environment[name] ?? fallback,
      )
      .replaceAll('$$', '$');
  const parsed: unknown = parse(readFileSync('docker-compose.yml', 'utf8'), { merge: true });
  const document: unknown = JSON.parse(JSON.stringify(parsed), (_, value: unknown) =>
    typeof value === 'string' ? filled(value) : value,
  );
  const { services } = file.parse(document);
  const image = z
    .array(z.string())
    .parse(JSON.parse(/^CMD (.+)$/m.exec(readFileSync('Dockerfile', 'utf8'))?.[1] ?? 'null'));
  return {
    services: Object.fromEntries(
      Object.entries(services).map(([name, one]) => [
        name,
        'build' in one && one.command.length + one.entrypoint.length === 0
          ? { ...one, command: image }
          : one,
      ]),
    ),
    subnet: network.parse(document).networks.inside.ipam.config[0].subnet,
  };
}
