import { MAX_BODY_DEPTH } from '@svc/service';

/** Type of a value in a response. */
export type FieldType = 'text' | 'uuid' | 'date' | 'jwt' | 'seconds' | { readonly [member: string]: FieldType };

/** The credentials of a request. */
export type Credentials = 'none' | 'key' | 'key and service token' | 'key and customer token';

export interface AuthenticationRow {
  /** Row of the decisions. */
  readonly row: string;
  readonly path: string;
  /** The required credentials. */
  readonly needs: Credentials;
  /** Required fields of the body, with their maximum length. */
  readonly required: Readonly<Record<string, number>>;
  readonly optional?: Readonly<Record<string, number>>;
  readonly status: number;
  /** All fields of the response. */
  readonly answer: Readonly<Record<string, FieldType>>;
  /** Status of the same request when it is sent again. */
  readonly again: number;
  /** Well-formed bodies that are rejected, with their status; a 401 has no body. */
  readonly refused: readonly { readonly with: Readonly<Record<string, string>>; readonly status: 401 | 404 | 409 }[];
}

const UNKNOWN_ID = '00000000-0000-7000-8000-000000000000';
const TOKEN = { identityToken: 'jwt', tokenType: 'text', expiresIn: 'seconds' } as const;

/** The Authentication endpoints, for the contract tests. */
export const AUTHENTICATION: readonly AuthenticationRow[] = [
  {
    row: 'A1',
    path: '/v1/auth/service/login',
    needs: 'key',
    required: { apiToken: 200, organisationId: 100 },
    status: 200,
    answer: TOKEN,
    again: 200,
    refused: [
      { with: { apiToken: `svc_test_token_${'A'.repeat(43)}` }, status: 401 },
      { with: { organisationId: UNKNOWN_ID }, status: 401 },
      { with: { organisationId: 'nonsense' }, status: 401 },
    ],
  },
  {
    row: 'A3',
    path: '/v1/auth/users',
    needs: 'key and service token',
    required: { email: 254, password: 128 },
    optional: { firstName: 100, lastName: 100 },
    status: 201,
    answer: { userId: 'uuid' },
    again: 409,
    refused: [],
  },
  {
    row: 'A4',
    path: '/v1/auth/customers/register',
    needs: 'key and service token',
    required: { userId: 100 },
    status: 201,
    answer: { customerReference: 'uuid', userId: 'uuid', organisationId: 'uuid', createdUTCDate: 'date' },
    again: 200,
    refused: [
      { with: { userId: UNKNOWN_ID }, status: 404 },
      { with: { userId: 'nonsense' }, status: 404 },
    ],
  },
  {
    row: 'A5',
    path: '/v1/auth/customers/login',
    needs: 'key and service token',
    required: { email: 254, password: 128 },
    status: 200,
    answer: { ...TOKEN, customer: { id: 'uuid', firstName: 'text', lastName: 'text' } },
    again: 200,
    refused: [
      { with: { password: 'wrong password' }, status: 401 },
      { with: { email: 'nobody@example.com' }, status: 401 },
    ],
  },
];

/** Values that are not text; every field must be text. */
export const NO_TEXT: readonly unknown[] = [null, 7, true, {}, ['text'], [], { toString: 'text' }];

/** JSON nested deeper than the limit of a body. */
export function nested(depth = MAX_BODY_DEPTH + 1): unknown {
  let value: unknown = 'deep';
  for (let i = 0; i < depth; i++) value = { deeper: value };
  return value;
}
