import { type ArgumentMetadata, Injectable, type PipeTransform, ValidationPipe } from '@nestjs/common';
import { DomainError, type FieldProblem, type FieldRule, ruleProblems } from '@svc/kernel';
import type { ValidationError } from 'class-validator';
import type { FastifyInstance } from 'fastify';

/** Replaces a body that is not valid JSON, until the caller is known: C5 authenticates before it validates. */
const UNREADABLE = Symbol('unreadable body');
/** Replaces a body of another media type, which is read and dropped. */
const UNSUPPORTED = Symbol('body of an unsupported type');

/** Reads JSON bodies; others are rejected by {@link RequestValidation}, after the guards. */
export function readJsonBodies(fastify: FastifyInstance): void {
  const parse = fastify.getDefaultJsonParser('error', 'error');
  fastify.removeContentTypeParser('application/json');
  fastify.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    void parse(request, body as string, (error, value: unknown) => done(null, error ? UNREADABLE : value));
  });
  fastify.addContentTypeParser('*', { parseAs: 'string' }, (_request, _body, done) => done(null, UNSUPPORTED));
}

/** Most values in one body, objects and lists included; the largest body of the specification has far fewer. */
export const MAX_BODY_VALUES = 10_000;
/** Most members of one object. */
export const MAX_BODY_MEMBERS = 200;
/** Deepest nesting of one body. */
export const MAX_BODY_DEPTH = 20;

/** The compiler's metadata for a parameter whose type is not a class. */
const WITHOUT_CLASS: ReadonlySet<unknown> = new Set([undefined, Object, Array]);

/**
 * Bodies become the contract's class or a `request.invalid` with every invalid field. Unknown fields are dropped (C5), nothing is
 * converted (C1). No body at all is an object without fields, so that missing fields are reported. Parameters without a class pass
 * unchanged, and so do events and commands: Nest sends them through here too, with Array or Object for their class, and their
 * types already bind their publishers.
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

/** Fields that violate the rules of their class. */
class MalformedFields extends Error {
  readonly problems: readonly FieldProblem[];
  /** The unvalidated request, for rules that read its other fields. */
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
 * A body as an object of the contract's class. Throws a `request.invalid` with every malformed field and every field that a rule
 * rejects: first the malformed ones, in the order of the class, then those of the rules in their order (C5). A handler with rules
 * declares its body as `unknown` and reads it with this; {@link RequestValidation} reads all others.
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
 * Whether class-transformer can process a body of this size. It walks unknown fields too, recursively and in a time that grows
 * with the square of an object's members: without this limit, 256 KiB from any caller stop the process for a second, or overflow
 * its stack.
 */
function isWithinLimits(body: object): boolean {
  let values = 0;
  let level: object[] = [body];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth === MAX_BODY_DEPTH) return false;
    const next: object[] = [];
    for (const container of level) {
      const children: unknown[] = Object.values(container);
      values += children.length;
      if (values > MAX_BODY_VALUES || (!Array.isArray(container) && children.length > MAX_BODY_MEMBERS)) return false;
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
  // Elements of a value that should be a list are not checked; the error of a list already covers elements that are not objects.
  const children = (error.constraints?.['isArray'] === undefined ? (error.children ?? []) : []).filter(
    ({ constraints }) => own.length === 0 || constraints?.['nestedValidation'] === undefined,
  );
  return [...own, ...children.flatMap((child) => fieldProblems(child, field))];
}

/** Rules by priority: the type of a list or number is reported before its content. */
const RULE_PRIORITY = ['isArray', 'isObject', 'isString', 'isInt', 'isNumber'];
const NUMBER_RULES: ReadonlySet<string> = new Set(['isAmountInCents', 'isInt', 'isNumber', 'min', 'max']);

/** One sentence for the caller: for a missing field or a wrong type it does not mention the rules for the content. */
function messageOf({ property, constraints = {}, target }: ValidationError, field: string): string {
  const value = (target as Readonly<Record<string, unknown>> | undefined)?.[property];
  if (value === undefined || value === null) return `${field} is required`;
  const rules = Object.keys(constraints);
  const rule = RULE_PRIORITY.find((name) => rules.includes(name)) ?? rules[0]!;
  const message = constraints[rule]!.replace(property, field);
  if (typeof value === 'string' && rules.some((name) => NUMBER_RULES.has(name)))
    return `${message}: send a number, not text`;
  const isFraction = typeof value === 'number' && !Number.isInteger(value);
  return isFraction && message.includes(' of cents ') ? `${message}: R 12.34 is 1234` : message;
}
