/**
 * Validates messages against the JSON Schemas of their types where they enter a service (ADR 62). Not for HTTP requests of people
 * and merchants: those have validators of their own.
 */
import type { EventEnvelope } from '@svc/contracts';
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import { MESSAGE_SCHEMAS } from './message-schemas.js';

export type MessageKind = 'event' | 'request' | 'reply';

/** A message violates the schema of its type. The error text names fields, and never contains a value. */
export class InvalidMessageError extends Error {
  override readonly name = 'InvalidMessageError';

  constructor(
    kind: MessageKind,
    type: string,
    /** The first invalid field, as a JSON pointer; `/` for the whole. */
    readonly path: string,
    readonly problem: string,
    schemaPath: string,
  ) {
    super(`message.invalid: ${kind} ${type}, ${path} ${problem} (${schemaPath})`);
  }
}

const ID = 'urn:svc:messages';
let ajv: Ajv2020 | undefined;
const validators = new Map<string, ValidateFunction | undefined>();

/**
 * Undefined when it is valid. A type without a schema is accepted: it belongs to a newer release, or to this library itself.
 * Additional properties are accepted too; formats are not checked.
 */
export function findInvalidity(kind: MessageKind, type: string, value: unknown): InvalidMessageError | undefined {
  const validate = validatorOf(`${kind}:${type}`);
  if (!validate || validate(value)) return undefined;
  // The last error is that of the outermost keyword: of a union, if all members failed.
  const { instancePath, message, schemaPath } = validate.errors!.at(-1) as ErrorObject;
  return new InvalidMessageError(kind, type, instancePath || '/', message ?? 'is invalid', schemaPath);
}

export interface Separated {
  readonly valid: readonly EventEnvelope[];
  readonly invalid: readonly (readonly [EventEnvelope, InvalidMessageError])[];
}

export function separateInvalid(events: readonly EventEnvelope[]): Separated {
  const invalid = events.flatMap((event) => {
    const error = findInvalidity('event', event.type, event.payload);
    return error ? [[event, error] as const] : [];
  });
  if (invalid.length === 0) return { valid: events, invalid };
  const refused = new Set(invalid.map(([event]) => event));
  return { valid: events.filter((event) => !refused.has(event)), invalid };
}

/** Compiled at the first message of the type. */
function validatorOf(name: string): ValidateFunction | undefined {
  if (!validators.has(name)) {
    const isKnown = Object.hasOwn(MESSAGE_SCHEMAS, name);
    validators.set(name, isKnown ? schemas().getSchema(`${ID}#/$defs/${name}`) : undefined);
  }
  return validators.get(name);
}

function schemas(): Ajv2020 {
  if (ajv) return ajv;
  const parsed = Object.entries(MESSAGE_SCHEMAS).map(([name, text]) => [name, JSON.parse(text) as unknown]);
  ajv = new Ajv2020({ strict: true, allowUnionTypes: true, validateSchema: false });
  ajv.addSchema({ $id: ID, $defs: Object.fromEntries(parsed) as object });
  return ajv;
}
