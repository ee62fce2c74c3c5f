import { Controller, Inject, type Type } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { operatorHeaders } from '@svc/auth';
import {
  type AdministeredService,
  ADMINISTRATION_COMMANDS,
  type AdministrationRequest,
  type AdministrationResponse,
  isText,
  MAX_ADMINISTRATION_BODY_LENGTH,
  MAX_ADMINISTRATION_PATH_LENGTH,
} from '@svc/contracts';
import { invalidField } from '@svc/kernel';
import { MessagePattern } from '@svc/messaging';
import type { FastifyInstance } from 'fastify';

/** A path below `/admin/v1`. A path with `..` could leave it. */
const PATH = /^\/(?!\/)[\x21-\x7e]*$/;

/**
 * Handles the requests that operators send in the console, as requests of the administration API: with the same routes,
 * checks and audit log. A repeat is harmless to the extent that a repeat of the request over HTTP is.
 */
export function createAdministrationConsumer(service: AdministeredService): Type {
  @Controller()
  class AdministrationConsumer {
    constructor(@Inject(HttpAdapterHost) private readonly http: HttpAdapterHost) {}

    @MessagePattern(ADMINISTRATION_COMMANDS[service])
    async handle({ operator, requestId, method, path, body }: AdministrationRequest): Promise<AdministrationResponse> {
      if (!isText(path, MAX_ADMINISTRATION_PATH_LENGTH) || !PATH.test(path) || path.includes('..'))
        throw invalidField('path', 'path must be a path of the administration API');
      if (body !== undefined && body.length > MAX_ADMINISTRATION_BODY_LENGTH)
        throw invalidField('body', `body must have at most ${MAX_ADMINISTRATION_BODY_LENGTH} characters`);
      const response = await this.http.httpAdapter.getInstance<FastifyInstance>().inject({
        method,
        url: `/admin/v1${path}`,
        headers: {
          ...operatorHeaders({ ...operator, requestId }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { payload: body }),
      });
      return { statusCode: response.statusCode, body: response.body };
    }
  }
  return AdministrationConsumer;
}
