import 'reflect-metadata';
import { DomainError } from '@svc/kernel';
import { IsIn, IsString } from 'class-validator';
import { RequestValidation } from './request-validation.js';

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
  const bodyOf = (metatype: new () => object, value: unknown) =>
    validation.transform(value, { type: 'body', metatype });

  it('takes no body at all for an object without fields', async () => {
    await expect(bodyOf(OptionalBody, undefined)).resolves.toEqual({ mode: 'test' });
  });

  it('names the field that no body at all lacks', async () => {
    await expect(bodyOf(Body, undefined)).rejects.toMatchObject({
      code: 'request.invalid',
      fields: [{ field: 'name', message: 'name must be a string' }],
    });
  });

  it.each([null, [], 'text', 7])('refuses %j, which is no object', (value) => {
    expect(() => bodyOf(OptionalBody, value)).toThrow(DomainError);
  });

  it.each([
    [Array, [{ id: 'an event' }]],
    [Object, { a: 'command' }],
    [undefined, 'whatever'],
  ])('passes on what has no class as it is (%p)', (metatype, value) => {
    expect(validation.transform(value, { type: 'body', metatype })).toBe(value);
  });
});
