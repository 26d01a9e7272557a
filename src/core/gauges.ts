import { Gauge, type Registry } from 'prom-client';

/** A figure of its labels. */
export interface LabelledValue {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface GaugeText {
  readonly help: string;
  /** Left out: none. */
  readonly labelNames?: readonly string[];
}

export type Figures<Name extends string> = Readonly<Record<Name, number | readonly LabelledValue[]>>;

/**
 * Gauges that are read when they are asked for, all of them at once by one reading. While it fails none of them is shown: an old
 * figure would pass for a new one.
 */
export function readTogether<Name extends string>(
  registry: Registry,
  texts: Readonly<Record<Name, GaugeText>>,
  read: () => Promise<Figures<Name>>,
): void {
  let reading: Promise<Figures<Name>> | null = null;
  const shared = (): Promise<Figures<Name>> =>
    (reading ??= Promise.resolve()
      .then(read)
      .finally(() => (reading = null)));
  for (const [name, { help, labelNames = [] }] of Object.entries(texts) as [Name, GaugeText][])
    new Gauge({
      name,
      help,
      labelNames: [...labelNames],
      registers: [registry],
      async collect() {
        const figure: number | readonly LabelledValue[] = (await shared())[name];
        this.reset();
        if (typeof figure === 'number') this.set(figure);
        else for (const { labels, value } of figure) this.set(labels, value);
      },
    });
}
