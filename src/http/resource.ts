import { ASSETS } from '../core/amount.js';
import { exampled, z } from './zod.js';

/** Where staff see a field. Tenants see every field, in responses and events. */
interface StaffView {
  /** The label on the support desk, if the desk shows the field by itself. */
  readonly desk?: string;
  readonly ops?: true;
}

interface Field<Source, Schema extends z.ZodType = z.ZodType> {
  readonly schema: Schema;
  readonly example: z.input<Schema>;
  readonly read: (source: Source) => z.output<Schema>;
  readonly staff: StaffView;
}
const staffValue = z.union([
  z.string(),
  z.number(),
  z.boolean(),
  z.null(),
  z.object({ raw: z.string().transform(BigInt), asset: z.enum(ASSETS) }),
]);
export type StaffValue = z.output<typeof staffValue>;

type Fields = Readonly<Record<string, Field<never>>>;

type SourceOf<Of extends Fields> = Of[keyof Of]['read'] extends (source: infer Source) => unknown
  ? Source
  : never;
type ShapeOf<Of extends Fields> = { [Name in keyof Of]: Of[Name]['schema'] };
type Presented<Of extends Fields> = { [Name in keyof Of]: z.output<Of[Name]['schema']> };

export function fieldsOf<Source>() {
  return <Schema extends z.ZodType>(
    meaning: string,
    schema: Schema,
    example: z.input<Schema>,
    read: (source: Source) => z.output<Schema>,
    staff: StaffView = {},
  ): Field<Source, Schema> => ({
    schema: schema.openapi({ description: meaning }),
    example,
    read,
    staff,
  });
}

/** Returns a meaning that explains each value, in a list of Markdown. */
export function withValues<Value extends string>(
  meaning: string,
  values: Readonly<Record<Value, string>>,
): string {
  const lines = Object.entries<string>(values).map(([value, what]) => `- \`${value}\`: ${what}.`);
  return [meaning, '', ...lines].join('\n');
}

/** Defines a resource's schema, example, JSON and fields for staff. */
export function defineResource<Of extends Fields>(name: string, meaning: string, fields: Of) {
  type Source = SourceOf<Of>;
  const entries: readonly [string, Field<never>][] = Object.entries(fields);
  const schema = z
    .object(fromEntries<ShapeOf<Of>>(entries.map(([field, of]) => [field, of.schema])))
    .openapi(name, { description: meaning });
  const example = fromEntries<z.input<typeof schema>>(
    entries.map(([field, of]) => [field, of.example]),
  );
  return {
    schema: exampled(schema, example),
    example,
    /** Returns the resource's JSON. A loop is faster here, and every posting runs it. */
    present: (source: Source): Presented<Of> => {
      const shown: Record<string, unknown> = {};
      for (const [field, { read }] of entries) shown[field] = read(source as never);
      return shown as Presented<Of>;
    },
    /** Returns the fields that the desk shows, by label, or the command line, by name. */
    presentToStaff: (side: keyof StaffView, source: Source): Readonly<Record<string, StaffValue>> =>
      fromEntries(
        entries.flatMap(([field, { staff, read }]) => {
          const name = staff[side] === true ? field : staff[side];
          return name === undefined ? [] : [[name, staffValue.parse(read(source as never))]];
        }),
      ),
  };
}

function fromEntries<Result>(entries: readonly (readonly [string, unknown])[]): Result {
  return Object.fromEntries(entries) as Result;
}
