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

interface Separated {
  readonly valid: readonly EventEnvelope[];
  readonly invalid: readonly (readonly [EventEnvelope, InvalidMessageError])[];
}

const ID = 'urn:svc:messages';

/** Parses the schemas when it validates the first message, and compiles each schema for the first message of its type. */
export class MessageValidator {
  private ajv: Ajv2020 | undefined;

  /** @param schemas JSON Schemas as text, by `<kind>:<type>`, and the definitions that they refer to, by name */
  constructor(private readonly schemas: Readonly<Record<string, string>>) {}

  /**
   * Returns undefined if the message is valid. A message of a type without a schema is valid: the type belongs to a
   * newer release, or to this library. Additional properties are allowed. Formats are not checked.
   */
  findViolation(kind: MessageKind, type: string, value: unknown): InvalidMessageError | undefined {
    const validate = this.getCompiledSchema(`${kind}:${type}`);
    if (!validate || validate(value)) return undefined;
    // The last error is that of the outermost keyword. If no member of a union matches, it is the error of the union.
    // By default, Ajv sets the message of each error.
    const { instancePath, message, schemaPath } = validate.errors!.at(-1) as ErrorObject & { message: string };
    return new InvalidMessageError(kind, type, instancePath || '/', message, schemaPath);
  }

  separateInvalid(events: readonly EventEnvelope[]): Separated {
    const invalid = events.flatMap((event) => {
      const error = this.findViolation('event', event.type, event.payload);
      return error ? [[event, error] as const] : [];
    });
    if (invalid.length === 0) return { valid: events, invalid };
    const invalidEvents = new Set(invalid.map(([event]) => event));
    return { valid: events.filter((event) => !invalidEvents.has(event)), invalid };
  }

  /** Ajv keeps the compiled schema. A name without a schema may contain characters that a URI must not contain. */
  private getCompiledSchema(name: string): ValidateFunction | undefined {
    if (!Object.hasOwn(this.schemas, name)) return undefined;
    this.ajv ??= createAjv(this.schemas);
    return this.ajv.getSchema(`${ID}#/$defs/${name}`);
  }
}

function createAjv(schemas: Readonly<Record<string, string>>): Ajv2020 {
  const parsed = Object.entries(schemas).map(([name, text]) => [name, JSON.parse(text) as unknown]);
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, validateSchema: false });
  ajv.addSchema({ $id: ID, $defs: Object.fromEntries(parsed) as object });
  return ajv;
}

/** Validates with the schemas of all messages of the platform. */
export const messageValidator = new MessageValidator(MESSAGE_SCHEMAS);
