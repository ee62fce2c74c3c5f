/**
 * Finds changes that break a client of the released document. An answer may gain fields; a request may lose limits. Follows
 * `$ref`s on both sides, so that a renamed component is no difference.
 */
type Json = { readonly [key: string]: unknown };
/** `request`: clients send it, so it may not be narrowed. `answer`: clients read it, so it may not be widened or lose anything. */
type Side = 'request' | 'answer';

interface Documents {
  readonly before: Json;
  readonly after: Json;
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/** One line for each breaking change. */
export function findBreakingChanges(before: Json, after: Json): string[] {
  const documents = { before, after };
  return [...comparePaths(documents), ...compareWebhooks(documents), ...compareMessages(documents)];
}

function comparePaths(documents: Documents): string[] {
  return Object.entries(getMember(documents.before, 'paths')).flatMap(([path, methods]) =>
    METHODS.filter((method) => getMember(methods as Json, method) !== NOTHING).flatMap((method) => {
      const name = `${method.toUpperCase()} ${path}`;
      const [was, is] = [getMember(methods as Json, method), getMember(documents.after, 'paths', path, method)];
      return is === NOTHING ? [`${name} is gone`] : compareOperations(name, was, is, documents);
    }),
  );
}

function compareOperations(name: string, was: Json, is: Json, documents: Documents): string[] {
  return [
    ...compareParameters(name, was, is, documents),
    ...compareBodies(`${name} body`, getMember(was, 'requestBody'), getMember(is, 'requestBody'), documents),
    ...compareResponses(name, was, is, documents),
  ];
}

function compareParameters(name: string, was: Json, is: Json, documents: Documents): string[] {
  const [old, now] = [was, is].map((each) => (each['parameters'] ?? []) as Json[]) as [Json[], Json[]];
  const same = (one: Json) => (other: Json) => one['name'] === other['name'] && one['in'] === other['in'];
  const added = now.filter((each) => each['required'] === true && !old.some(same(each)));
  const changed = old.flatMap((each) => {
    const found = now.find(same(each));
    const label = `${name} ${String(each['in'])} ${String(each['name'])}`;
    if (!found) return [`${label} is gone`];
    const demanded = found['required'] === true && each['required'] !== true ? [`${label} has become required`] : [];
    return [...demanded, ...compareSchemas(label, getMember(each, 'schema'), getMember(found, 'schema'), 'request', documents)];
  });
  return [
    ...added.map((each) => `${name} ${String(each['in'])} ${String(each['name'])} is new and required`),
    ...changed,
  ];
}

function compareBodies(name: string, was: Json, is: Json, documents: Documents): string[] {
  if (was === NOTHING) return is['required'] === true ? [`${name} is new and required`] : [];
  if (is === NOTHING) return [];
  return compareContents(name, getMember(was, 'content'), getMember(is, 'content'), 'request', documents);
}

/** A removed refusal breaks no client, but a removed or new success does. */
function compareResponses(name: string, was: Json, is: Json, documents: Documents): string[] {
  const [old, now] = [getMember(was, 'responses'), getMember(is, 'responses')];
  const gone = Object.keys(old).filter((status) => status.startsWith('2') && now[status] === undefined);
  const added = Object.keys(now).filter((status) => /^[23]/.test(status) && old[status] === undefined);
  const changed = Object.keys(old).flatMap((status) => {
    const [former, present] = [resolveReference(old[status], documents.before), resolveReference(now[status], documents.after)];
    if (present === NOTHING) return [];
    const label = `${name} ${status}`;
    return compareContents(label, getMember(former, 'content'), getMember(present, 'content'), 'answer', documents);
  });
  return [
    ...gone.map((status) => `${name} ${status} is gone`),
    ...added.map((status) => `${name} ${status} is new`),
    ...changed,
  ];
}

function compareContents(name: string, was: Json, is: Json, side: Side, documents: Documents): string[] {
  return Object.entries(was).flatMap(([type, content]) =>
    is[type] === undefined
      ? [`${name} ${type} is gone`]
      : compareSchemas(name, getMember(content as Json, 'schema'), getMember(is, type, 'schema'), side, documents),
  );
}

/** Clients read webhooks like answers. */
function compareWebhooks(documents: Documents): string[] {
  return Object.keys(getMember(documents.before, 'webhooks')).flatMap((name) => {
    const [was, is] = [documents.before, documents.after].map((each) =>
      getMember(each, 'webhooks', name, 'post', 'requestBody'),
    );
    if (is === NOTHING) return [`webhook ${name} is gone`];
    return compareContents(`webhook ${name}`, getMember(was!, 'content'), getMember(is!, 'content'), 'answer', documents);
  });
}

/** The log keeps events for ever, and releases run side by side, so readers of the released document must understand them. */
function compareMessages(documents: Documents): string[] {
  return Object.keys(getMember(documents.before, 'components', 'messages')).flatMap((name) => {
    const [was, is] = [documents.before, documents.after].map((each) => getMember(each, 'components', 'messages', name));
    const [label, sides] = describeReaders(name);
    if (is === NOTHING) return [`${label} is gone`];
    const changes = sides.flatMap((side) =>
      compareSchemas(label, getMember(was!, 'payload'), getMember(is!, 'payload'), side, documents),
    );
    // Readers of messages take `format` as a note.
    return [...new Set(changes)].filter((change) => !/ format was \S+ and is \S+$/.test(change));
  });
}

/**
 * A command's request is read by a newer service, its reply by an older one. An event is read by both: an older consumer reads what is
 * published now, and a newer one, in a replay, what was published before.
 */
function describeReaders(name: string): [label: string, sides: readonly Side[]] {
  const [, command, part] = /^(.*)\.(request|reply)$/.exec(name) ?? [];
  if (command === undefined) return [`event ${name}`, ['answer', 'request']];
  return [`command ${command} ${part!}`, [part === 'request' ? 'request' : 'answer']];
}

function compareSchemas(
  name: string,
  formerSchema: Json,
  presentSchema: Json,
  side: Side,
  documents: Documents,
  seen: readonly unknown[] = [],
): string[] {
  const [was, is] = [resolveReference(formerSchema, documents.before), resolveReference(presentSchema, documents.after)];
  // A schema that contains itself.
  if (was === NOTHING || is === NOTHING || seen.includes(was)) return [];
  const deeper = (label: string, former: Json, present: Json): string[] =>
    compareSchemas(label, former, present, side, documents, [...seen, was]);
  return [
    ...compareTypes(name, was, is, side),
    ...compareValues(name, was, is, side),
    ...(side === 'request' ? findNarrowedLimits(name, was, is) : []),
    ...compareMembers(name, was, is, side, deeper),
    ...(was['items'] && is['items'] ? deeper(`${name}[]`, getMember(was, 'items'), getMember(is, 'items')) : []),
    ...(was['additionalProperties'] && is['additionalProperties']
      ? deeper(`${name}.*`, getMember(was, 'additionalProperties'), getMember(is, 'additionalProperties'))
      : []),
    ...compareAlternatives(name, was, is, side, deeper),
  ];
}

type CompareNested = (label: string, former: Json, present: Json) => string[];

function compareTypes(name: string, was: Json, is: Json, side: Side): string[] {
  if (side === 'answer' && isAnything(is) && !isAnything(was)) return [`${name} may be anything now`];
  if (side === 'request' && isAnything(was) && !isAnything(is)) return [`${name} took anything, and no longer does`];
  const [old, now] = side === 'request' ? [listTypes(was), listTypes(is)] : [listTypes(is), listTypes(was)];
  // Every integer is a number.
  const isTaken = (type: string): boolean => now.includes(type) || (type === 'integer' && now.includes('number'));
  if (old.length === 0 || now.length === 0 || old.every(isTaken)) return [];
  return [`${name} was ${listTypes(was).join(' or ')} and is ${listTypes(is).join(' or ')}`];
}

function listTypes({ type }: Json): string[] {
  return type === undefined ? [] : ([type].flat() as string[]);
}

/** Words such as a description restrict nothing. */
function isAnything(schema: Json): boolean {
  return !['type', 'enum', 'const', 'anyOf', 'allOf', ...LOWER_LIMITS, ...UPPER_LIMITS, 'pattern', 'properties'].some(
    (key) => key in schema,
  );
}

function compareValues(name: string, was: Json, is: Json, side: Side): string[] {
  const values = ({ enum: list, const: only }: Json): unknown[] | undefined =>
    (list as unknown[] | undefined) ?? (only === undefined ? undefined : [only]);
  const [old, now] = [values(was), values(is)];
  if (side === 'request') {
    if (!now) return [];
    if (!old) return [`${name} takes only ${JSON.stringify(now)} now`];
    const refused = old.filter((value) => !now.includes(value));
    return refused.length > 0 ? [`${name} does not take ${JSON.stringify(refused)} any more`] : [];
  }
  if (!old) return [];
  if (!now) return [`${name} may be anything now`];
  const added = now.filter((value) => !old.includes(value));
  return added.length > 0 ? [`${name} may be ${JSON.stringify(added)} now`] : [];
}

const LOWER_LIMITS = ['minimum', 'minLength', 'minItems'];
const UPPER_LIMITS = ['maximum', 'maxLength', 'maxItems'];

function findNarrowedLimits(name: string, was: Json, is: Json): string[] {
  const isNarrower = (key: string, by: (old: number, now: number) => boolean): boolean =>
    is[key] !== undefined && (was[key] === undefined || by(was[key] as number, is[key] as number));
  const narrower = [
    ...LOWER_LIMITS.filter((key) => isNarrower(key, (old, now) => now > old)),
    ...UPPER_LIMITS.filter((key) => isNarrower(key, (old, now) => now < old)),
    ...['pattern', 'format'].filter((key) => is[key] !== undefined && is[key] !== was[key]),
  ];
  return narrower.map((key) => `${name} ${key} was ${formatLimit(was[key])} and is ${formatLimit(is[key])}`);
}

function formatLimit(limit: unknown): string {
  return typeof limit === 'string' || typeof limit === 'number' ? String(limit) : 'none';
}

function compareMembers(name: string, was: Json, is: Json, side: Side, deeper: CompareNested): string[] {
  const [old, now] = [getMember(was, 'properties'), getMember(is, 'properties')];
  if (old === NOTHING || now === NOTHING) return [];
  const required = (schema: Json): string[] => (schema['required'] ?? []) as string[];
  const demanded = side === 'request' ? required(is).filter((each) => !required(was).includes(each)) : [];
  const withdrawn =
    side === 'answer' ? required(was).filter((each) => now[each] !== undefined && !required(is).includes(each)) : [];
  return [
    ...Object.keys(old).flatMap((each) => {
      if (now[each] !== undefined) return deeper(`${name}.${each}`, getMember(old, each), getMember(now, each));
      return [`${name}.${each} is gone`];
    }),
    ...demanded.map(
      (each) => `${name}.${each} ${old[each] === undefined ? 'is new and required' : 'has become required'}`,
    ),
    ...withdrawn.map((each) => `${name}.${each} may be absent now`),
  ];
}

/** Compares alternatives one by one, in order; likewise the parts of `allOf`. */
function compareAlternatives(name: string, was: Json, is: Json, side: Side, deeper: CompareNested): string[] {
  return ['anyOf', 'allOf'].flatMap((key) => {
    const [old, now] = [was, is].map((each) => (each[key] ?? []) as Json[]) as [Json[], Json[]];
    const changesOf = (former: Json, present: Json): string[] =>
      deeper(`${name} (${old.indexOf(former) + 1})`, former, present);
    const pairs = pairAlternatives(old, now, changesOf).flatMap(([former, present]) => changesOf(former, present));
    if (key === 'allOf' || old.length === now.length) return pairs;
    const isFewer = now.length < old.length;
    return isFewer === (side === 'request') ? [...pairs, `${name} has ${isFewer ? 'fewer' : 'more'} forms now`] : pairs;
  });
}

/** The compiler orders a union as it happens to see its parts: those of one name belong together, then those without a difference. */
function pairAlternatives(
  old: readonly Json[],
  now: readonly Json[],
  changesOf: (former: Json, present: Json) => string[],
): [Json, Json][] {
  const left = [...now];
  const found = new Map<Json, Json>();
  const fits: ((former: Json, present: Json) => boolean)[] = [
    (former, present) => former['$ref'] !== undefined && former['$ref'] === present['$ref'],
    (former, present) => changesOf(former, present).length === 0,
    () => true,
  ];
  for (const isFit of fits)
    for (const former of old) {
      const index = found.has(former) ? -1 : left.findIndex((present) => isFit(former, present));
      if (index >= 0) found.set(former, left.splice(index, 1)[0]!);
    }
  return [...found];
}

const NOTHING: Json = {};

function getMember(value: Json, ...keys: string[]): Json {
  let found: unknown = value;
  for (const key of keys) found = (found as Json | undefined)?.[key];
  return (found ?? NOTHING) as Json;
}

function resolveReference(value: unknown, document: Json): Json {
  const $ref = (value as Json | undefined)?.['$ref'];
  if (typeof $ref !== 'string') return (value ?? NOTHING) as Json;
  const keys = $ref
    .slice(2)
    .split('/')
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
  return resolveReference(getMember(document, ...keys), document);
}
