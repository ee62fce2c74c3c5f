import 'reflect-metadata';
import { IsAmountInCents, IsText } from '@svc/contracts';
import { type DomainError, rulesFor } from '@svc/kernel';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsIn,
  IsInt,
  IsObject,
  IsOptional,
  IsString,
  Min,
  ValidateNested,
} from 'class-validator';
import {
  FormBody,
  MAX_BODY_DEPTH,
  MAX_BODY_MEMBERS,
  MAX_BODY_VALUES,
  PatchBody,
  readBody,
  RequestValidation,
} from './request-validation.js';

class Body {
  @IsString()
  name: string;

  @IsIn(['test', 'live'])
  mode: string = 'test';
}

class OptionalBody {
  @IsIn(['test', 'live'])
  mode: string = 'test';
}

class NamedBody {
  @IsString()
  name: string;

  @IsOptional()
  @IsString()
  note?: string;
}

class NestedBody {
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => NamedBody)
  customer?: NamedBody;

  @IsOptional()
  @IsArray()
  @IsObject({ each: true })
  @ValidateNested({ each: true })
  @Type(() => NamedBody)
  list?: NamedBody[];
}

@PatchBody()
class ChangeBody {
  @IsOptional()
  @IsString()
  removable?: string | null;

  @IsIn(['test', 'live'])
  mode: string = 'test';
}

describe('RequestValidation', () => {
  const validation = new RequestValidation();
  const validate = async (metatype: new () => object, value: unknown) =>
    validation.transform(value, { type: 'body', metatype });

  test('rejects a form, whatever the type of the body is', async () => {
    for (const metatype of [OptionalBody, Object])
      await expect(validate(metatype, new FormBody({ mode: 'test' }))).rejects.toMatchObject({
        code: 'request.unsupported-media-type',
      });
  });

  it('accepts a missing body for a class without fields', async () => {
    await expect(validate(OptionalBody, undefined)).resolves.toEqual({ mode: 'test' });
  });

  it('rejects a missing body with an error for the required field', async () => {
    await expect(validate(Body, undefined)).rejects.toMatchObject({
      code: 'request.invalid',
      fields: [{ field: 'name', message: 'name is required' }],
    });
  });

  it('names the unknown field that looks like a missing field, also in nested objects', async () => {
    await expect(validate(Body, { Name: 'n' })).rejects.toMatchObject({
      fields: [{ field: 'name', message: 'name is required: rename Name to name' }],
    });
    const nested = { customer: { NAME: 'n' }, list: [{ name: 'n' }, { 'na-me': 'n' }, { title: 'n' }] };
    await expect(validate(NestedBody, nested)).rejects.toMatchObject({
      fields: [
        { field: 'customer.name', message: 'customer.name is required: rename NAME to name' },
        { field: 'list[1].name', message: 'list[1].name is required: rename na-me to name' },
        { field: 'list[2].name', message: 'list[2].name is required' },
      ],
    });
  });

  it.each([null, [], 'text', 7])('rejects %j, which is not an object', async (value) => {
    await expect(validate(OptionalBody, value)).rejects.toMatchObject({
      code: 'request.invalid',
      message: 'The body must be a JSON object.',
    });
  });

  const newNestedBody = (depth: number): unknown => JSON.parse('{"a":'.repeat(depth) + '1' + '}'.repeat(depth));
  const newWideBody = (count: number): object =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`m${i}`, 1]));

  it.each([
    ['deep', { name: 'n', unknown: newNestedBody(100_000) }],
    ['deep by one level', { name: 'n', unknown: newNestedBody(MAX_BODY_DEPTH) }],
    ['wide', newWideBody(30_000)],
    ['wide by one member in a nested object', { name: 'n', unknown: newWideBody(MAX_BODY_MEMBERS + 1) }],
    ['long', { name: 'n', unknown: Array(MAX_BODY_VALUES).fill(1) }],
  ])('rejects a body that is too %s before it validates the fields', async (_, body) => {
    await expect(validate(Body, body)).rejects.toThrow('The body has too many parts or is nested too deeply.');
  });

  it('ignores unknown fields that are within the limits', async () => {
    const body = {
      name: 'n',
      deep: newNestedBody(MAX_BODY_DEPTH - 1),
      wide: newWideBody(MAX_BODY_MEMBERS),
      long: Array(5_000).fill({}),
    };
    await expect(validate(Body, body)).resolves.toEqual({ name: 'n', mode: 'test' });
  });

  it('reads a field that is null as a missing field, also in nested objects and for a required field', async () => {
    await expect(validate(OptionalBody, { mode: null, unknown: null })).resolves.toEqual({ mode: 'test' });
    const nested = { customer: { name: null, note: null }, list: [{ name: 'n', note: null }] };
    await expect(validate(NestedBody, nested)).rejects.toMatchObject({
      fields: [{ field: 'customer.name', message: 'customer.name is required' }],
    });
    await expect(validate(NestedBody, { customer: null, list: [{ name: 'n', note: null }] })).resolves.toEqual({
      list: [{ name: 'n' }],
    });
    await expect(validate(NestedBody, { list: [null] })).rejects.toMatchObject({
      fields: [{ field: 'list', message: 'each value in list must be an object' }],
    });
  });

  it('lets the fields of the body of a PATCH decide whether they allow null', async () => {
    await expect(validate(ChangeBody, { removable: null })).resolves.toEqual({ removable: null, mode: 'test' });
    await expect(validate(ChangeBody, { mode: null })).rejects.toMatchObject({
      fields: [{ field: 'mode', message: 'mode is required' }],
    });
  });

  it.each([
    [Array, [{ id: 'an event' }]],
    [Object, { a: 'command' }],
    [undefined, 'whatever'],
  ])('returns a value unchanged if the type of its parameter is not a class (%p)', (metatype, value) => {
    expect(validation.transform(value, { type: 'body', metatype })).toBe(value);
  });
});

describe('a body that is validated with rules', () => {
  const nameIsNotBob = rulesFor<Body>()(['name'], ({ name }) =>
    name === 'bob' ? { field: 'name', message: 'not bob' } : undefined,
  );
  const modeIsNotLive = rulesFor<Body>()(['mode'], ({ mode }) =>
    mode === 'live' ? { field: 'mode', message: 'not live' } : undefined,
  );
  const readMessages = (body: unknown) =>
    readBody(Body, body, [modeIsNotLive, nameIsNotBob]).then(
      () => [],
      ({ fields }: { fields: { message: string }[] }) => fields.map(({ message }) => message),
    );

  it('is converted to an object of its class, without unknown fields', async () => {
    const read = await readBody(Body, { name: 'n', unknown: 1 }, [nameIsNotBob]);
    expect(read).toBeInstanceOf(Body);
    expect(read).toEqual({ name: 'n', mode: 'test' });
  });

  it('is rejected with the errors of all malformed fields, followed by the errors of the rules', async () => {
    expect(await readMessages({ name: 'bob', mode: 'live' })).toEqual(['not live', 'not bob']);
    expect(await readMessages({ name: 7, mode: 'live' })).toEqual(['name must be a string', 'not live']);
    expect(await readMessages({ mode: 'live' })).toEqual(['name is required', 'not live']);
    expect(await readMessages({ name: 'bob', mode: 'x' })).toEqual([
      'mode must be one of the following values: test, live',
      'not bob',
    ]);
    expect(await readMessages({ name: 'n' })).toEqual([]);
  });

  it('is rejected without errors for fields if it is not an object', async () => {
    await expect(readBody(Body, [], [nameIsNotBob])).rejects.toThrow('The body must be a JSON object.');
    expect(await readMessages(undefined)).toEqual(['name is required']);
  });
});

describe('the error has one message for each invalid field', () => {
  class Item {
    @IsText(10)
    key: string;
  }
  class Sale {
    @IsAmountInCents()
    amount: number;

    @IsOptional()
    @IsInt()
    @Min(1)
    tries?: number;

    @IsOptional()
    @IsArray()
    @ArrayMaxSize(2)
    @IsObject({ each: true })
    @ValidateNested({ each: true })
    @Type(() => Item)
    items?: Item[];
  }

  test.each([
    [{}, ['amount is required']],
    [{ amount: null }, ['amount is required']],
    [{ amount: '100' }, ['amount must be a whole number of cents from 1 to 100000000000: send a number, not text']],
    [{ amount: 1.5 }, ['amount must be a whole number of cents from 1 to 100000000000: R 12.34 is 1234']],
    [{ amount: 1, tries: '2' }, ['tries must be an integer number: send a number, not text']],
    [{ amount: 1, items: 'text' }, ['items must be an array']],
    [{ amount: 1, items: { key: 'k' } }, ['items must be an array']],
    [{ amount: 1, items: ['text'] }, ['each value in items must be an object']],
    [{ amount: 1, items: [{ key: 'k' }, {}] }, ['items[1].key is required']],
    [
      { amount: 1, items: [{ key: 7 }] },
      ['items[0].key must be text of 1 to 10 characters without control characters'],
    ],
  ])('the messages for the body %j are %j', async (body, messages) => {
    const error = await readBody(Sale, body).catch((error: unknown) => error);
    expect((error as DomainError).fields.map(({ message }) => message)).toEqual(messages);
  });
});
