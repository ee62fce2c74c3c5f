import { isEmailAddress } from '@svc/contracts';
import { isLoopback } from '@svc/kernel';
import { ConfigError, readSettingFile, ServiceConfig } from '@svc/service';
import { IsOptional, IsString, MaxLength } from 'class-validator';

const MAX_URL_LENGTH = 1024;
const SMTP_PORT = 587;
const SMTPS_PORT = 465;

/** The variables of a service that sends e-mails. {@link readMailSettings} checks them. */
export class MailConfig extends ServiceConfig {
  /**
   * The SMTP server: `smtps://user:password@host:465`, or `smtp://user:password@host:587`, which requires STARTTLS unless
   * the host is a loopback address. If not set, no mail is sent, and the features that need mails are off. A secret.
   */
  @IsOptional()
  @IsString()
  @MaxLength(MAX_URL_LENGTH)
  SVC_SMTP_URL?: string | undefined;

  /** Path of a file that contains the value of SVC_SMTP_URL. Only one of the two is set. */
  @IsOptional()
  @IsString()
  @MaxLength(4096)
  SVC_SMTP_URL_FILE?: string | undefined;

  /** Address of the sender of all mails, without a name. Required if mails are sent. */
  @IsOptional()
  @IsString()
  SVC_MAIL_FROM?: string | undefined;

  /** Folder into which mails are written instead of being sent. Only with `SVC_ENVIRONMENT=development`. */
  @IsOptional()
  @IsString()
  @MaxLength(4096)
  SVC_MAIL_FOLDER?: string | undefined;
}

export interface SmtpServer {
  readonly host: string;
  readonly port: number;
  /** Whether TLS begins with the connection. */
  readonly isTls: boolean;
  /** Whether the connection must be encrypted with STARTTLS. */
  readonly requiresStartTls: boolean;
  readonly user: string | undefined;
  readonly password: string | undefined;
}

export type MailSettings =
  { readonly from: string; readonly server: SmtpServer } | { readonly from: string; readonly folder: string };

/** Returns undefined if mails are off. Throws a {@link ConfigError} that contains no value of a secret. */
export function readMailSettings(config: MailConfig): MailSettings | undefined {
  const { SVC_MAIL_FROM: from, SVC_MAIL_FOLDER: folder } = config;
  const url = readUrl(config);
  if (url !== undefined && folder !== undefined)
    throw new ConfigError('Only one of SVC_SMTP_URL and SVC_MAIL_FOLDER may be set.');
  if (folder !== undefined && config.SVC_ENVIRONMENT !== 'development')
    throw new ConfigError('SVC_MAIL_FOLDER is only for development.');
  if (from !== undefined && !isEmailAddress(from))
    throw new ConfigError('SVC_MAIL_FROM must be an e-mail address without a name.');
  if (url === undefined && folder === undefined) return undefined;
  if (from === undefined) throw new ConfigError('SVC_MAIL_FROM is required, because mails are on.');
  return folder === undefined ? { from, server: parseSmtpUrl(url!) } : { from, folder };
}

function readUrl({ SVC_SMTP_URL: url, SVC_SMTP_URL_FILE: file }: MailConfig): string | undefined {
  if (url !== undefined && file !== undefined)
    throw new ConfigError('Only one of SVC_SMTP_URL and SVC_SMTP_URL_FILE may be set.');
  if (file === undefined) return url;
  const text = readSettingFile(file);
  if (text === undefined) throw new ConfigError('The file of SVC_SMTP_URL_FILE cannot be read.');
  return text;
}

function parseSmtpUrl(text: string): SmtpServer {
  const url = text.length <= MAX_URL_LENGTH ? URL.parse(text) : null;
  const isTls = url?.protocol === 'smtps:';
  const isUsable =
    url !== null && (isTls || url.protocol === 'smtp:') && url.hostname !== '' && /^\/?$/.test(url.pathname);
  // Options in the query could switch off the verification of the certificate.
  if (!isUsable || url.search !== '' || url.hash !== '' || (url.username === '') !== (url.password === ''))
    throw new ConfigError(
      'SVC_SMTP_URL must be smtps://user:password@host:465 or smtp://user:password@host:587, without a path and a query.',
    );
  return {
    host: url.hostname.replace(/^\[(.*)\]$/, '$1'),
    port: url.port === '' ? (isTls ? SMTPS_PORT : SMTP_PORT) : Number(url.port),
    isTls,
    requiresStartTls: !isTls && !isLoopback(url.hostname),
    user: url.username === '' ? undefined : decodePart(url.username),
    password: url.password === '' ? undefined : decodePart(url.password),
  };
}

function decodePart(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new ConfigError('The user or password of SVC_SMTP_URL is not percent-encoded correctly.');
  }
}
