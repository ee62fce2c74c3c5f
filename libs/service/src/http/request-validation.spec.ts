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
  MAX_BODY_DEPTH,
  MAX_BODY_MEMBERS,
  MAX_BODY_VALUES,
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

describe('RequestValidation', () => {
  const validation = new RequestValidation();
  const bodyOf = async (metatype: new () => object, value: unknown) =>
    validation.transform(value, { type: 'body', metatype });

  it('accepts a missing body for a class without fields', async () => {
    await expect(bodyOf(OptionalBody, undefined)).resolves.toEqual({ mode: 'test' });
  });

  it('names the required field if the body is missing', async () => {
    await expect(bodyOf(Body, undefined)).rejects.toMatchObject({
      code: 'request.invalid',
      fields: [{ field: 'name', message: 'name is required' }],
    });
  });

  it.each([null, [], 'text', 7])('refuses %j, which is not an object', async (value) => {
    await expect(bodyOf(OptionalBody, value)).rejects.toMatchObject({
      code: 'request.invalid',
      message: 'The body must be a JSON object.',
    });
  });

  const nested = (depth: number): unknown => JSON.parse('{"a":'.repeat(depth) + '1' + '}'.repeat(depth));
  const members = (count: number): object => Object.fromEntries(Array.from({ length: count }, (_, i) => [`m${i}`, 1]));

  it.each([
    ['deep', { name: 'n', unknown: nested(100_000) }],
    ['a level too deep', { name: 'n', unknown: nested(MAX_BODY_DEPTH) }],
    ['wide', members(30_000)],
    ['a member too wide inside', { name: 'n', unknown: members(MAX_BODY_MEMBERS + 1) }],
    ['long', { name: 'n', unknown: Array(MAX_BODY_VALUES).fill(1) }],
  ])('refuses a body that is too %s before it reads the content', async (_, body) => {
    await expect(bodyOf(Body, body)).rejects.toThrow('The body has too many parts or is nested too deeply.');
  });

  it('ignores unknown fields within the limits', async () => {
    const body = {
      name: 'n',
      deep: nested(MAX_BODY_DEPTH - 1),
      wide: members(MAX_BODY_MEMBERS),
      long: Array(5_000).fill({}),
    };
    await expect(bodyOf(Body, body)).resolves.toEqual({ name: 'n', mode: 'test' });
  });

  it.each([
    [Array, [{ id: 'an event' }]],
    [Object, { a: 'command' }],
    [undefined, 'whatever'],
  ])('passes on a value without a class unchanged (%p)', (metatype, value) => {
    expect(validation.transform(value, { type: 'body', metatype })).toBe(value);
  });
});

describe('a body that is validated with rules', () => {
  const noBob = rulesFor<Body>()(['name'], ({ name }) =>
    name === 'bob' ? { field: 'name', message: 'not bob' } : undefined,
  );
  const noLive = rulesFor<Body>()(['mode'], ({ mode }) =>
    mode === 'live' ? { field: 'mode', message: 'not live' } : undefined,
  );
  const fieldsOf = (body: unknown) =>
    readBody(Body, body, [noLive, noBob]).then(
      () => [],
      ({ fields }: { fields: { message: string }[] }) => fields.map(({ message }) => message),
    );

  it('becomes an object of its class, without unknown fields', async () => {
    const read = await readBody(Body, { name: 'n', unknown: 1 }, [noBob]);
    expect(read).toBeInstanceOf(Body);
    expect(read).toEqual({ name: 'n', mode: 'test' });
  });

  it('is refused first for every malformed field, then for the errors of the rules', async () => {
    expect(await fieldsOf({ name: 'bob', mode: 'live' })).toEqual(['not live', 'not bob']);
    expect(await fieldsOf({ name: 7, mode: 'live' })).toEqual(['name must be a string', 'not live']);
    expect(await fieldsOf({ mode: 'live' })).toEqual(['name is required', 'not live']);
    expect(await fieldsOf({ name: 'bob', mode: 'x' })).toEqual([
      'mode must be one of the following values: test, live',
      'not bob',
    ]);
    expect(await fieldsOf({ name: 'n' })).toEqual([]);
  });

  it('is refused as a whole if it is not an object', async () => {
    await expect(readBody(Body, [], [noBob])).rejects.toThrow('The body must be a JSON object.');
    expect(await fieldsOf(undefined)).toEqual(['name is required']);
  });
});

describe('each invalid field has one message that says how to correct it', () => {
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
  ])('for %j the message is %j', async (body, messages) => {
    const refused = await readBody(Sale, body).catch((error: unknown) => error);
    expect((refused as DomainError).fields.map(({ message }) => message)).toEqual(messages);
  });
});
