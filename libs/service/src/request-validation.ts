import { type ArgumentMetadata, Injectable, type PipeTransform, ValidationPipe } from '@nestjs/common';
import { DomainError, type FieldProblem } from '@svc/kernel';
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
  private readonly pipe = new ValidationPipe({
    transform: true,
    whitelist: true,
    stopAtFirstError: true,
    validationError: { target: false, value: false },
    exceptionFactory: (errors) =>
      new DomainError('request.invalid', { fields: errors.flatMap((error) => fieldProblems(error)) }),
  });

  transform(value: unknown, metadata: ArgumentMetadata): unknown {
    if (metadata.type !== 'body') return value;
    if (value === UNSUPPORTED) throw new DomainError('request.unsupported-media-type');
    if (value === UNREADABLE) throw new DomainError('request.invalid', { message: 'The body is not valid JSON.' });
    if (WITHOUT_CLASS.has(metadata.metatype)) return value;
    const body: unknown = value === undefined ? {} : value;
    if (typeof body !== 'object' || body === null || Array.isArray(body)) {
      throw new DomainError('request.invalid', { message: 'The body must be a JSON object.' });
    }
    if (!isModest(body)) {
      throw new DomainError('request.invalid', { message: 'The body has too many parts or is nested too deeply.' });
    }
    return this.pipe.transform(body, metadata);
  }
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
  const own = Object.values(error.constraints ?? {}).map((message) => ({
    field,
    message: message.replace(error.property, field),
  }));
  return [...own, ...(error.children ?? []).flatMap((child) => fieldProblems(child, field))];
}
