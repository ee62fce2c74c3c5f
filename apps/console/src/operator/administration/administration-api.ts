import { Inject, Injectable } from '@nestjs/common';
import {
  type AdministeredService,
  ADMINISTRATION_COMMANDS,
  type AdministrationRequest,
  appFor,
  canOperate,
} from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import { Commands } from '@svc/messaging';
import type { OperatorViewer } from '../../viewer/viewer.js';

type Method = AdministrationRequest['method'];

/** A refusal of the administration API, with its messages, which an operator may read. */
export class AdministrationRefusal extends Error {
  constructor(
    readonly statusCode: number,
    readonly messages: readonly string[],
  ) {
    super(messages.join('. '));
    this.name = 'AdministrationRefusal';
  }
}

/**
 * The administration API, for the pages of operators: each request goes as a command to the service of the route table
 * that owns it, with the operator as the author of a change. Paths are below `/admin/v1`.
 */
@Injectable()
export class AdministrationApi {
  constructor(@Inject(Commands) private readonly commands: Commands) {}

  /** Reads the JSON response. Throws `resource.not-found`, and {@link AdministrationRefusal} for other refusals. */
  async get<T>(viewer: OperatorViewer, path: string): Promise<T> {
    return (await this.call(viewer, 'GET', path)) as T;
  }

  /** Changes something. Throws as {@link get}; the response without a body is undefined. */
  async call(viewer: OperatorViewer, method: Method, path: string, body?: object): Promise<unknown> {
    const service = appFor('admin', `/admin/v1${path.split('?')[0]!}`, method) as AdministeredService | undefined;
    if (service === undefined) throw new Error(`No service has the administration route ${path}`);
    const { personId } = viewer.session;
    const response = await this.commands.request(ADMINISTRATION_COMMANDS[service], {
      operator: { personId, mayChange: canOperate(viewer.operatorRole, 'change') },
      requestId: viewer.actor.requestId,
      method,
      path,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const { statusCode, body: text } = response;
    if (statusCode === 404) throw new DomainError('resource.not-found', { message: viewer.texts.errors.notFound });
    if (statusCode >= 400) throw new AdministrationRefusal(statusCode, readMessages(text));
    return text === '' ? undefined : (JSON.parse(text) as unknown);
  }
}

/** The messages of a problem (C5). */
function readMessages(text: string): string[] {
  try {
    const { errors = [], detail = '' } = JSON.parse(text) as { errors?: { message: string }[]; detail?: string };
    return errors.length > 0 ? errors.map(({ message }) => message) : [detail];
  } catch {
    return [];
  }
}
