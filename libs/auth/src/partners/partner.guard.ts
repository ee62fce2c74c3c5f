import {
  applyDecorators,
  type CanActivate,
  createParamDecorator,
  type ExecutionContext,
  Inject,
  Injectable,
  SetMetadata,
  UseGuards,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Mode, Scope } from '@svc/contracts';
import { DomainError } from '@svc/kernel';
import { PartnerCredentials, type PartnerKey } from './partner-credentials.js';
import { hasScope, PartnerTokens } from './partner-tokens.js';

/** The caller of the main API: a partner's server, or one of its customers. */
export interface AuthenticatedPartner {
  /** UUID. All data of a partner belongs to this organisation and mode. */
  readonly organisationId: string;
  readonly mode: Mode;
  /** UUID of the customer, who may only read and pay their own payments. Undefined if the partner's server calls. */
  readonly customerReference: string | undefined;
}

interface PartnerRequest {
  readonly headers: Readonly<Record<string, unknown>>;
  partner?: AuthenticatedPartner;
  partnerKey?: PartnerKey;
}

/** Key of the metadata in which {@link ForPartners} stores the scope of a route. */
const SCOPE = Symbol('scope of a route');

/**
 * Admits a partner with its API key alone (`x-api-key`), for the routes that issue tokens (A1).
 *
 * @throws credentials.invalid
 * @throws credentials.key-missing
 * @throws credentials.key-malformed
 * @throws credentials.partner-key-needed
 */
@Injectable()
export class PartnerKeyGuard implements CanActivate {
  constructor(@Inject(PartnerCredentials) private readonly credentials: PartnerCredentials) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<PartnerRequest>();
    request.partnerKey = await this.credentials.getPartnerKey(request.headers['x-api-key']);
    return true;
  }
}

/**
 * Admits partners and their customers. A request has a partner's API key (`x-api-key`) and an identity token, which
 * must have the same organisation and mode (A11, A6). The guard responds 401 with an empty body to every problem
 * with the key or the token (C5). It responds 403 to a token without the scope of the route. Use {@link ForPartners}.
 *
 * @throws credentials.invalid
 * @throws credentials.key-missing
 * @throws credentials.key-malformed
 * @throws credentials.partner-key-needed
 * @throws credentials.token-missing
 * @throws credentials.token-malformed
 * @throws credentials.token-expired
 * @throws credentials.forbidden The token does not have the scope of the route.
 */
@Injectable()
export class PartnerGuard implements CanActivate {
  constructor(
    @Inject(PartnerCredentials) private readonly credentials: PartnerCredentials,
    @Inject(PartnerTokens) private readonly tokens: PartnerTokens,
    @Inject(Reflector) private readonly reflector: Reflector,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<PartnerRequest>();
    const key = await this.credentials.getPartnerKey(request.headers['x-api-key']);
    const claims = await this.tokens.verify(request);
    if (claims.org !== key.organisationId || claims.mode !== key.mode) throw new DomainError('credentials.invalid');
    const scope = this.reflector.getAllAndOverride<Scope>(SCOPE, [context.getHandler(), context.getClass()]);
    if (!hasScope(claims, scope))
      throw new DomainError('credentials.forbidden', {
        message: `The identity token has the scopes ${claims.scope}, but this needs ${scope}.${
          claims.typ === 'customer' ? ' Send the token of the service login, not the token of a customer.' : ''
        }`,
      });
    request.partner = {
      organisationId: key.organisationId,
      mode: key.mode,
      customerReference: claims.typ === 'customer' ? claims.sub : undefined,
    };
    return true;
  }
}

/**
 * Decorator of a controller or a method: admits only partners whose token has this scope. The module of the app must
 * import PartnerAuthModule. {@link Partner} injects the admitted partner into a parameter.
 */
export function ForPartners(scope: Scope): ClassDecorator & MethodDecorator {
  return applyDecorators(SetMetadata(SCOPE, scope), UseGuards(PartnerGuard));
}

/** Parameter decorator: the {@link AuthenticatedPartner} that {@link ForPartners} admitted. */
export const Partner = createParamDecorator((_: unknown, context: ExecutionContext): AuthenticatedPartner => {
  const { partner } = context.switchToHttp().getRequest<PartnerRequest>();
  if (!partner) throw new Error('@Partner() needs @ForPartners().');
  return partner;
});

/** Parameter decorator: the {@link PartnerKey} that {@link PartnerKeyGuard} admitted. */
export const CallingPartnerKey = createParamDecorator((_: unknown, context: ExecutionContext): PartnerKey => {
  const { partnerKey } = context.switchToHttp().getRequest<PartnerRequest>();
  if (!partnerKey) throw new Error('@CallingPartnerKey() needs PartnerKeyGuard.');
  return partnerKey;
});
