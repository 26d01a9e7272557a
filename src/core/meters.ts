import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

export function metersOf(registry: Registry) {
  const registers = [registry];
  return {
    counter: <L extends string = never>(name: string, help: string, labelNames: L[] = []) =>
      new Counter({ name, help, labelNames, registers }),
    gauge: <L extends string = never>(name: string, help: string, labelNames: L[] = []) =>
      new Gauge({ name, help, labelNames, registers }),
    histogram: <L extends string = never>(
      name: string,
      help: string,
      buckets: number[],
      labelNames: L[] = [],
    ) => new Histogram({ name, help, buckets, labelNames, registers }),
  };
}

interface LabelledValue {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

interface GaugeText {
  readonly help: string;
  readonly labelNames?: readonly string[];
}

type Figures<Name extends string> = Readonly<Record<Name, number | readonly LabelledValue[]>>;

/** Registers gauges that share one read. If the read fails, they export no values. */
export function registerGauges<Name extends string>(
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
