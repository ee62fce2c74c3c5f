import { MAX_BODY_DEPTH } from '@svc/service';

/** Type of a value in a response. An object lists its members with their types. */
export type FieldType = 'text' | 'uuid' | 'date' | 'jwt' | 'seconds' | { readonly [member: string]: FieldType };

/** The credentials of a request. */
export type Credentials = 'none' | 'key' | 'key and service token' | 'key and customer token';

/** The expected behaviour of one authentication endpoint. */
export interface AuthenticationRow {
  /** Code of the endpoint's requirement in docs/requirements, such as A1. */
  readonly row: string;
  readonly path: string;
  /** The required credentials. */
  readonly requiredCredentials: Credentials;
  /** Required fields of the request body, with their maximum length. */
  readonly required: Readonly<Record<string, number>>;
  readonly optional?: Readonly<Record<string, number>>;
  readonly status: number;
  /** All fields of the response, with their types. */
  readonly response: Readonly<Record<string, FieldType>>;
  /** Status of the response when the same request is sent again. */
  readonly statusOfRepeat: number;
  /**
   * Changes of the request body. The endpoint rejects the changed body with this status, although it is well-formed. A
   * response with status 401 has no body.
   */
  readonly rejected: readonly {
    readonly changes: Readonly<Record<string, string>>;
    readonly status: 401 | 404 | 409;
  }[];
}

const UNKNOWN_ID = '00000000-0000-7000-8000-000000000000';
const TOKEN = { identityToken: 'jwt', tokenType: 'text', expiresIn: 'seconds' } as const;

/** The expected behaviour of each authentication endpoint. */
export const AUTHENTICATION: readonly AuthenticationRow[] = [
  {
    row: 'A1',
    path: '/v1/auth/service/login',
    requiredCredentials: 'key',
    required: { apiToken: 200, organisationId: 100 },
    status: 200,
    response: TOKEN,
    statusOfRepeat: 200,
    rejected: [
      { changes: { apiToken: `svc_test_token_${'A'.repeat(43)}` }, status: 401 },
      { changes: { organisationId: UNKNOWN_ID }, status: 401 },
      { changes: { organisationId: 'nonsense' }, status: 401 },
    ],
  },
  {
    row: 'A3',
    path: '/v1/auth/users',
    requiredCredentials: 'key and service token',
    required: { email: 254, password: 128 },
    optional: { firstName: 100, lastName: 100 },
    status: 201,
    response: { userId: 'uuid' },
    statusOfRepeat: 409,
    rejected: [],
  },
  {
    row: 'A4',
    path: '/v1/auth/customers/register',
    requiredCredentials: 'key and service token',
    required: { userId: 100 },
    status: 201,
    response: { customerReference: 'uuid', userId: 'uuid', organisationId: 'uuid', createdUTCDate: 'date' },
    statusOfRepeat: 200,
    rejected: [
      { changes: { userId: UNKNOWN_ID }, status: 404 },
      { changes: { userId: 'nonsense' }, status: 404 },
    ],
  },
  {
    row: 'A5',
    path: '/v1/auth/customers/login',
    requiredCredentials: 'key and service token',
    required: { email: 254, password: 128 },
    status: 200,
    response: { ...TOKEN, customer: { id: 'uuid', firstName: 'text', lastName: 'text' } },
    statusOfRepeat: 200,
    rejected: [
      { changes: { password: 'wrong password' }, status: 401 },
      { changes: { email: 'nobody@example.com' }, status: 401 },
    ],
  },
];

/** Values that are not text. Every field of a request body must be text, so each of these values must be rejected. */
export const NON_TEXT_VALUES: readonly unknown[] = [null, 7, true, {}, ['text'], [], { toString: 'text' }];

/** An object that is nested one level deeper than the limit of a body. */
export function createNestedObject(depth = MAX_BODY_DEPTH + 1): unknown {
  let value: unknown = 'deep';
  for (let i = 0; i < depth; i++) value = { deeper: value };
  return value;
}
