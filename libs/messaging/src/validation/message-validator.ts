/**
 * Validates each message that a service receives against the JSON Schema of its type (ADR 62). HTTP requests have
 * separate validators.
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
    /** JSON pointer of the invalid field, or `/` for the whole message. */
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
 * Returns undefined if the message is valid. A message of a type without a schema is valid: the type belongs to a newer
 * release, or to this library. Additional properties are allowed. Formats are not checked.
 */
export function findViolation(kind: MessageKind, type: string, value: unknown): InvalidMessageError | undefined {
  const validate = validatorOf(`${kind}:${type}`);
  if (!validate || validate(value)) return undefined;
  // The last error is that of the outermost keyword. If no member of a union matches, it is the error of the union.
  const { instancePath, message, schemaPath } = validate.errors!.at(-1) as ErrorObject;
  return new InvalidMessageError(kind, type, instancePath || '/', message ?? 'is invalid', schemaPath);
}

export interface Separated {
  readonly valid: readonly EventEnvelope[];
  readonly invalid: readonly (readonly [EventEnvelope, InvalidMessageError])[];
}

export function separateInvalid(events: readonly EventEnvelope[]): Separated {
  const invalid = events.flatMap((event) => {
    const error = findViolation('event', event.type, event.payload);
    return error ? [[event, error] as const] : [];
  });
  if (invalid.length === 0) return { valid: events, invalid };
  const invalidEvents = new Set(invalid.map(([event]) => event));
  return { valid: events.filter((event) => !invalidEvents.has(event)), invalid };
}

/** Compiles the schema when the first message of the type is validated. */
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
