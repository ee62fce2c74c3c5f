import { type ArgumentMetadata, Injectable, type PipeTransform, ValidationPipe } from '@nestjs/common';
import { DomainError, type FieldProblem, type FieldRule, ruleProblems } from '@svc/kernel';
import type { ValidationError } from 'class-validator';
import type { FastifyInstance } from 'fastify';

/** Stands where a body was that is no JSON, until the caller is known: C5 authenticates before it validates. */
const UNREADABLE = Symbol('unreadable body');
/** Likewise for a body of another media type; it is read as any other, and kept nowhere. */
const UNSUPPORTED = Symbol('body of an unsupported type');

/** Reads JSON bodies; what is none, or cannot be read, is refused by {@link RequestValidation}, after the guards. */
export function readJsonBodies(fastify: FastifyInstance): void {
  const parse = fastify.getDefaultJsonParser('error', 'error');
  fastify.removeContentTypeParser('application/json');
  fastify.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    void parse(request, body as string, (error, value: unknown) => done(null, error ? UNREADABLE : value));
  });
  fastify.addContentTypeParser('*', { parseAs: 'string' }, (_request, _body, done) => done(null, UNSUPPORTED));
}

/** Most values in one body, objects and lists included; the largest that the specification knows stays far below. */
export const BODY_VALUES_MAX = 10_000;
/** Most members of one object. */
export const BODY_MEMBERS_MAX = 200;
/** Deepest nesting of one body. */
export const BODY_DEPTH_MAX = 20;

/** What the compiler writes down for a parameter whose type is no class. */
const WITHOUT_CLASS: ReadonlySet<unknown> = new Set([undefined, Object, Array]);

/**
 * Bodies become the contract's class or a `request.invalid` that names every offending field. Unknown fields are
 * dropped (C5), nothing is converted (C1). No body at all is an object without fields: what is missing is named.
 * Parameters without a class pass as they are, and so do events and commands: Nest sends those through here too, with
 * Array or Object for their class, and who publishes them is bound to their type already.
 */
@Injectable()
export class RequestValidation implements PipeTransform {
  transform(value: unknown, metadata: ArgumentMetadata): unknown {
    if (metadata.type !== 'body') return value;
    if (value === UNSUPPORTED) throw new DomainError('request.unsupported-media-type');
    if (value === UNREADABLE) throw new DomainError('request.invalid', { message: 'The body is not valid JSON.' });
    if (WITHOUT_CLASS.has(metadata.metatype)) return value;
    return readBody(metadata.metatype!, value);
  }
}

/** Fields that are not of the form that their class declares. */
class MalformedFields extends Error {
  readonly problems: readonly FieldProblem[];
  /** The request as it is, for rules that read its other fields. */
  readonly request: unknown;

  constructor(errors: readonly ValidationError[]) {
    super('Malformed fields');
    this.problems = errors.flatMap((error) => fieldProblems(error));
    this.request = errors[0]?.target;
  }
}

const FORM = new ValidationPipe({
  transform: true,
  whitelist: true,
  validationError: { target: true, value: false },
  exceptionFactory: (errors) => new MalformedFields(errors),
});

/**
 * A body as an object of the contract's class. Throws a `request.invalid` that names every field that is malformed or that
 * one of the rules refuses: first those malformed, in the order of the class, then those of the rules in their order (C5).
 * A handler with rules declares its body as `unknown` and reads it with this; {@link RequestValidation} reads all others.
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
  if (!isModest(body)) {
    throw new DomainError('request.invalid', { message: 'The body has too many parts or is nested too deeply.' });
  }
  const metadata: ArgumentMetadata = { type: 'body', metatype: type };
  const read: unknown = await FORM.transform(body, metadata).catch((error: unknown) => {
    if (error instanceof MalformedFields) return error;
    throw error;
  });
  const malformed = read instanceof MalformedFields ? read.problems : [];
  const request = (read instanceof MalformedFields ? read.request : read) as Request;
  const fields = [...malformed, ...ruleProblems(request, rules, malformed)];
  if (fields.length > 0) throw new DomainError('request.invalid', { fields });
  return request;
}

/**
 * Whether a body is of a size that class-transformer may be given. That walks unknown fields too, by recursion and in
 * a time that grows with the square of an object's members: without this bound 256 KiB from anybody stop the process
 * for a second, or overflow its stack.
 */
function isModest(body: object): boolean {
  let values = 0;
  let level: object[] = [body];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth === BODY_DEPTH_MAX) return false;
    const next: object[] = [];
    for (const container of level) {
      const children: unknown[] = Object.values(container);
      values += children.length;
      if (values > BODY_VALUES_MAX || (!Array.isArray(container) && children.length > BODY_MEMBERS_MAX)) return false;
      for (const child of children) if (typeof child === 'object' && child !== null) next.push(child);
    }
    level = next;
  }
  return true;
}

function fieldProblems(error: ValidationError, parent = ''): FieldProblem[] {
  const field = /^\d+$/.test(error.property)
    ? `${parent}[${error.property}]`
    : parent
      ? `${parent}.${error.property}`
      : error.property;
  const own = error.constraints ? [{ field, message: messageOf(error, field) }] : [];
  // Nothing inside what should be a list is looked at; that an element is no object is said of the list already.
  const children = (error.constraints?.['isArray'] === undefined ? (error.children ?? []) : []).filter(
    ({ constraints }) => own.length === 0 || constraints?.['nestedValidation'] === undefined,
  );
  return [...own, ...children.flatMap((child) => fieldProblems(child, field))];
}

/** Rules of a field by what is said first: no list or number is looked into before it is one. */
const SAID_FIRST = ['isArray', 'isObject', 'isString', 'isInt', 'isNumber'];
const OF_NUMBERS: ReadonlySet<string> = new Set(['isAmountInCents', 'isInt', 'isNumber', 'min', 'max']);

/** One sentence that says what to do: what is missing, or of another type, is not told the rule for its content. */
function messageOf({ property, constraints = {}, target }: ValidationError, field: string): string {
  const value = (target as Readonly<Record<string, unknown>> | undefined)?.[property];
  if (value === undefined || value === null) return `${field} is required`;
  const rules = Object.keys(constraints);
  const rule = SAID_FIRST.find((name) => rules.includes(name)) ?? rules[0]!;
  const message = constraints[rule]!.replace(property, field);
  if (typeof value === 'string' && rules.some((name) => OF_NUMBERS.has(name)))
    return `${message}: send a number, not text`;
  const isFraction = typeof value === 'number' && !Number.isInteger(value);
  return isFraction && message.includes(' of cents ') ? `${message}: R 12.34 is 1234` : message;
}
