/** Statuses. A status describes why a call failed, and whether its handler may have run. */

/** Status codes, with the same numbers as in gRPC. */
export const Code = /* @__PURE__ */ coded() as {
  readonly OK: 0;
  readonly CANCELLED: 1;
  readonly UNKNOWN: 2;
  readonly INVALID_ARGUMENT: 3;
  readonly DEADLINE_EXCEEDED: 4;
  readonly NOT_FOUND: 5;
  readonly ALREADY_EXISTS: 6;
  readonly PERMISSION_DENIED: 7;
  readonly RESOURCE_EXHAUSTED: 8;
  readonly FAILED_PRECONDITION: 9;
  readonly ABORTED: 10;
  readonly OUT_OF_RANGE: 11;
  readonly UNIMPLEMENTED: 12;
  readonly INTERNAL: 13;
  readonly UNAVAILABLE: 14;
  readonly DATA_LOSS: 15;
  readonly UNAUTHENTICATED: 16;
};

/** A number of `Code`. */
export type Code = (typeof Code)[keyof typeof Code];

/** The codes that this package uses. A const enum takes no space in a bundle. */
export const enum Is {
  CANCELLED = 1,
  UNKNOWN = 2,
  INVALID_ARGUMENT = 3,
  DEADLINE_EXCEEDED = 4,
  PERMISSION_DENIED = 7,
  RESOURCE_EXHAUSTED = 8,
  FAILED_PRECONDITION = 9,
  UNIMPLEMENTED = 12,
  INTERNAL = 13,
  UNAVAILABLE = 14,
  DATA_LOSS = 15,
}

/**
 * Metadata of a call or a reply. Keys consist of `a-z`, `0-9`, `-`, `_` and `.`. The value of a key that ends in `-bin`
 * is bytes, and any other value is printable ASCII text. A key with several values has a list.
 */
export type Metadata = Readonly<Record<string, string | Uint8Array | readonly (string | Uint8Array)[]>>;

/** Further parts of a status, in addition to its code and text. */
export interface StatusOptions {
  /** Additional data in an application-defined format. */
  readonly details?: Uint8Array | undefined;
  readonly metadata?: Metadata | undefined;
  /** Whether the handler may have run. Defaults to `true`. */
  readonly mayHaveRun?: boolean | undefined;
  readonly cause?: unknown;
}

/** The error thrown for a failed call. */
export class Status extends Error {
  override readonly name = "Status";
  declare readonly code: Code;
  declare readonly details: Uint8Array;
  declare readonly metadata: Metadata;
  /**
   * Whether the handler may have run. `false` means that the request was not sent, or that the server rejected it
   * before calling the handler. Such a call is safe to retry.
   */
  declare readonly mayHaveRun: boolean;

  constructor(code: Code, message: string, options?: StatusOptions) {
    super(message, options);
    const { details = new Uint8Array(), metadata = {}, mayHaveRun = true } = options ?? {};
    Object.assign(this, { details, metadata, mayHaveRun, code });
  }

  /**
   * Returns `error` itself if it is a status. Otherwise returns a status with code `UNKNOWN` and the text of `error`.
   */
  static from(error: unknown): Status {
    if (error instanceof Status) return error;
    return new Status(Is.UNKNOWN, textOf(error), { cause: error });
  }
}

function coded(): object {
  const names = "OK CANCELLED UNKNOWN INVALID_ARGUMENT DEADLINE_EXCEEDED NOT_FOUND ALREADY_EXISTS PERMISSION_DENIED RESOURCE_EXHAUSTED FAILED_PRECONDITION ABORTED OUT_OF_RANGE UNIMPLEMENTED INTERNAL UNAVAILABLE DATA_LOSS UNAUTHENTICATED";
  return Object.fromEntries(names.split(" ").map((name, code) => [name, code]));
}

/** Returns the text of any thrown value. */
export const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Returns the status of a call that did not reach its handler. */
export const notRun = (code: Code, message: string): Status => new Status(code, message, { mayHaveRun: false });

/**
 * Converts an error to the status of a call. If `hasRun` is true, the status states that the call may have run, even if
 * `error` is the status of a later attempt or of a different call that did not run.
 */
export const toStatus = (error: unknown, hasRun: unknown): Status => {
  const status = Status.from(error);
  return status.mayHaveRun || !hasRun ? status : new Status(status.code, status.message, { ...status, mayHaveRun: true });
};

/** Converts a number received from the peer to a code. Numbers outside of `Code` become `UNKNOWN`. */
export const codeOf = (number: number): Code => (number > 0 && number <= 16 ? (number as Code) : Is.UNKNOWN);

/**
 * Returns the status of a call that this client stops waiting for. `sent` is the number of times that the request may
 * have reached the server.
 */
export const ended = (code: Code, message: string, sent: number): Status => new Status(code, sent ? message : `not sent: ${message}`, { mayHaveRun: !!sent });

/** Returns the status of a call cancelled by its caller. */
export const givenUp = (sent: number): Status => ended(Is.CANCELLED, "the caller cancelled the call", sent);

/**
 * Returns the status of a call whose deadline passed without a reply. `failure` is the reason if the request was not
 * sent.
 */
export const late = (sent: number, failure = ""): Status => ended(Is.DEADLINE_EXCEEDED, `deadline exceeded${failure}`, sent);
