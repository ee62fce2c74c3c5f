import { type ArgumentMetadata, Injectable, type PipeTransform, ValidationPipe } from '@nestjs/common';
import { DomainError, type FieldProblem, type FieldRule, invalidField, ruleProblems } from '@svc/kernel';
import type { ValidationError } from 'class-validator';
import type { FastifyInstance } from 'fastify';
import { findDuplicateKey } from './duplicate-keys.js';
import { findMisspelledFields } from './misspelled-fields.js';

/**
 * Replaces a body that is not valid JSON. The error is thrown later, because the caller is authenticated before the
 * body is validated (C5).
 */
const UNREADABLE = Symbol('unreadable body');
/** Replaces a body of another media type, whose content is ignored. */
const UNSUPPORTED = Symbol('body of an unsupported type');

/** Replaces a body in which an object has a key twice. */
class DuplicateKey {
  constructor(readonly path: string) {}
}

/** The body of a form that a browser sent without a script. If the form has a field several times, the last one counts. */
export class FormBody {
  constructor(readonly fields: Readonly<Record<string, string>>) {}
}

/** The body of a request that is no text, such as an image. */
export class BinaryBody {
  /** @param type media type, without parameters, in lower case */
  constructor(
    readonly type: string,
    readonly bytes: Buffer,
  ) {}
}

/**
 * Parses bodies of these media types as {@link BinaryBody}, for handlers that read the body of the request themselves.
 * {@link RequestValidation} rejects them for all other handlers.
 */
export function readBinaryBodies(fastify: FastifyInstance, types: readonly string[], maxBytes: number): void {
  for (const type of types)
    fastify.addContentTypeParser(type, { parseAs: 'buffer', bodyLimit: maxBytes }, (_request, body, done) =>
      done(null, new BinaryBody(type, body as Buffer)),
    );
}

/**
 * Parses forms as {@link FormBody}, for handlers that read the body of the request themselves. {@link RequestValidation}
 * rejects forms for all other handlers.
 */
export function readFormBodies(fastify: FastifyInstance, maxBytes: number): void {
  fastify.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: maxBytes },
    (_request, body, done) => done(null, new FormBody(Object.fromEntries(new URLSearchParams(body as string)))),
  );
}

/** Parses JSON bodies. {@link RequestValidation} rejects all other bodies later, after the guards. */
export function readJsonBodies(fastify: FastifyInstance): void {
  const parse = fastify.getDefaultJsonParser('error', 'error');
  fastify.removeContentTypeParser('application/json');
  fastify.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    void parse(request, body as string, (error, value: unknown) => {
      const duplicate = error ? undefined : findDuplicateKey(body as string);
      done(null, error ? UNREADABLE : duplicate === undefined ? value : new DuplicateKey(duplicate));
    });
  });
  fastify.addContentTypeParser('*', { parseAs: 'string' }, (_request, _body, done) => done(null, UNSUPPORTED));
}

/**
 * Maximum number of values in a body, including objects and lists. The largest body of the specification has far fewer.
 */
export const MAX_BODY_VALUES = 10_000;
/** Maximum number of members of one object. */
export const MAX_BODY_MEMBERS = 200;
/** Deepest nesting of one body. */
export const MAX_BODY_DEPTH = 20;

const PATCH_BODIES = new WeakSet<object>();

/**
 * Marks the body of a PATCH, in which null may mean that a value is removed (RFC 7396). Its fields decide whether they
 * allow null. In all other bodies a field that is null is a missing field.
 */
export function PatchBody(): ClassDecorator {
  return (type) => void PATCH_BODIES.add(type);
}

/** The metadata that the compiler generates for a parameter whose type is not a class. */
const TYPES_WITHOUT_CLASS: ReadonlySet<unknown> = new Set([undefined, Object, Array]);

/**
 * Converts a body to an object of its class, or throws a `request.invalid` that contains every invalid field. Unknown
 * fields are removed (C5). Types of values are not converted (C1). A missing body is read as an object without fields,
 * so that missing fields are reported. A field that is null is a missing field. A value is returned unchanged if the type of its parameter is not a class.
 * Events and commands, which Nest passes to this pipe too, are such values. They are validated when they are received.
 */
@Injectable()
export class RequestValidation implements PipeTransform {
  transform(value: unknown, metadata: ArgumentMetadata): unknown {
    if (metadata.type !== 'body') return value;
    if (value === UNSUPPORTED || value instanceof FormBody || value instanceof BinaryBody)
      throw new DomainError('request.unsupported-media-type');
    if (value === UNREADABLE) throw new DomainError('request.invalid', { message: 'The body is not valid JSON.' });
    if (value instanceof DuplicateKey) throw invalidField(value.path, `${value.path} must not be sent twice`);
    if (TYPES_WITHOUT_CLASS.has(metadata.metatype)) return value;
    return readBody(metadata.metatype!, value);
  }
}

/** Fields that violate the rules of their class. */
class MalformedFields extends Error {
  /** The unvalidated request, for rules that read its other fields. */
  readonly request: unknown;

  constructor(private readonly errors: readonly ValidationError[]) {
    super('Malformed fields');
    this.request = errors[0]?.target;
  }

  /** @param body the body as it was received, with its unknown fields */
  describe(body: unknown): FieldProblem[] {
    return this.errors.flatMap((error) => fieldProblems(error, body));
  }
}

const VALIDATION_PIPE = new ValidationPipe({
  transform: true,
  whitelist: true,
  validationError: { target: true, value: false },
  exceptionFactory: (errors) => new MalformedFields(errors),
});

/**
 * Converts a body to an object of its class. Throws a `request.invalid` with all malformed fields in the order of the
 * class, followed by the fields that the rules reject, in the order of the rules (C5). A handler with rules declares
 * its body as `unknown` and calls this function. For all other handlers, {@link RequestValidation} calls it.
 */
export async function readBody<Request extends object>(
  type: new (...args: never[]) => Request,
  value: unknown,
  rules: readonly FieldRule<Request>[] = [],
): Promise<Request> {
  const body: unknown = value === undefined ? {} : value;
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new DomainError('request.invalid', { message: 'The body must be a JSON object.' });
  }
  if (!isWithinLimits(body)) {
    throw new DomainError('request.invalid', { message: 'The body has too many parts or is nested too deeply.' });
  }
  if (!PATCH_BODIES.has(type)) removeNulls(body);
  const metadata: ArgumentMetadata = { type: 'body', metatype: type };
  const transformed: unknown = await VALIDATION_PIPE.transform(body, metadata).catch((error: unknown) => {
    if (error instanceof MalformedFields) return error;
    throw error;
  });
  const malformed = transformed instanceof MalformedFields ? transformed.describe(body) : [];
  const request = (transformed instanceof MalformedFields ? transformed.request : transformed) as Request;
  const fields = [...malformed, ...ruleProblems(request, rules, malformed)];
  if (fields.length > 0) throw new DomainError('request.invalid', { fields });
  return request;
}

/**
 * Whether a body is small enough for class-transformer. It processes unknown fields too, recursively, and its time
 * grows with the square of an object's members. Without this limit, a body of 256 KiB could block the process for a
 * second, or overflow the stack.
 */
function isWithinLimits(body: object): boolean {
  let values = 0;
  let containers: object[] = [body];
  for (let depth = 0; containers.length > 0; depth++) {
    if (depth === MAX_BODY_DEPTH) return false;
    const childContainers: object[] = [];
    for (const container of containers) {
      const children: unknown[] = Object.values(container);
      values += children.length;
      if (values > MAX_BODY_VALUES || (!Array.isArray(container) && children.length > MAX_BODY_MEMBERS)) return false;
      for (const child of children) if (typeof child === 'object' && child !== null) childContainers.push(child);
    }
    containers = childContainers;
  }
  return true;
}

/** Removes the members of all objects that are null, so that null means the same as a missing field everywhere. */
function removeNulls(container: object): void {
  for (const [key, child] of Object.entries(container) as [string, unknown][]) {
    if (typeof child === 'object' && child !== null) removeNulls(child);
    else if (child === null && !Array.isArray(container)) delete (container as Record<string, unknown>)[key];
  }
}

function fieldProblems(error: ValidationError, container: unknown, parent = ''): FieldProblem[] {
  const field = /^\d+$/.test(error.property)
    ? `${parent}[${error.property}]`
    : parent
      ? `${parent}.${error.property}`
      : error.property;
  const ownProblems = error.constraints ? [{ field, message: describeProblem(error, field, container) }] : [];
  // If the value is not a list, its elements are not checked. The error of the list already covers elements that are
  // not objects.
  const children = (error.constraints?.['isArray'] === undefined ? (error.children ?? []) : []).filter(
    ({ constraints }) => ownProblems.length === 0 || constraints?.['nestedValidation'] === undefined,
  );
  const value = (container as Readonly<Record<string, unknown>> | undefined)?.[error.property];
  return [...ownProblems, ...children.flatMap((child) => fieldProblems(child, value, field))];
}

/** Rules by priority: a wrong type is reported before a wrong value. */
const RULE_PRIORITY = ['isArray', 'isObject', 'isString', 'isInt', 'isNumber'];
const NUMBER_RULES: ReadonlySet<string> = new Set(['isAmountInCents', 'isInt', 'isNumber', 'min', 'max']);

/**
 * One message for the caller. For a missing field or a wrong type, the message does not contain the value's rules.
 *
 * @param container the object that contains the field, as it was received
 */
function describeProblem(
  { property, constraints = {}, target }: ValidationError,
  field: string,
  container: unknown,
): string {
  const value = (target as Readonly<Record<string, unknown>> | undefined)?.[property];
  if (value === undefined || value === null) {
    const type = target?.constructor as (new () => object) | undefined;
    const misspelled = type && findMisspelledFields(type, container).find(({ meant }) => meant === property);
    return misspelled ? `${field} is required: rename ${misspelled.field} to ${property}` : `${field} is required`;
  }
  const rules = Object.keys(constraints);
  const rule = RULE_PRIORITY.find((name) => rules.includes(name)) ?? rules[0]!;
  const message = constraints[rule]!.replace(property, field);
  if (typeof value === 'string' && rules.some((name) => NUMBER_RULES.has(name)))
    return `${message}: send a number, not text`;
  const isFraction = typeof value === 'number' && !Number.isInteger(value);
  return isFraction && message.includes(' of cents ') ? `${message}: R 12.34 is 1234` : message;
}
