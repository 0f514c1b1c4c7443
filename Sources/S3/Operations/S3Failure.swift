internal import Media
internal import ObjectStore

/// Why an operation failed.
struct S3Failure: Error, Sendable, Hashable, CustomStringConvertible {
  /// What follows from it.
  enum Consequence: Sendable, Hashable {
    /// It may work later. The server may ask for a pause.
    case again(after: Duration?)
    /// An operator must change something.
    case refused
    /// There is no such object.
    case missing
    /// There is no such upload: it has ended.
    case uploadGone
    /// The object exists (412).
    case exists
    /// The server does not know a header or an operation (501).
    case unsupported
    case failed
  }

  var consequence: Consequence
  /// A sentence.
  var description: String
  /// The same without what the server says in its own words, which may name accounts and users: `readyz` shows it to anybody.
  var problem: String
  /// Whether other credentials may help.
  var mayBeCredentials = false
  /// Whether there was no answer.
  var isUnanswered = false
  /// The error code of the server; empty if it said none.
  var code = ""

  init(_ consequence: Consequence, _ description: String) {
    self.consequence = consequence
    self.description = description
    problem = description
  }

  init(_ error: S3TransportError) {
    switch error {
    case .timeout, .connection:
      self.init(.again(after: nil), error.description)
      isUnanswered = true
    case .tooLarge, .source: self.init(.failed, error.description)
    }
  }

  /// - Parameters:
  ///   - operation: such as `PutObject`.
  ///   - bucket: for sentences, and `region` as well.
  init(_ response: S3Response, operation: String, bucket: String, region: String) {
    self.init(
      status: response.status, error: S3ErrorBody(parsing: response.body), operation: operation, bucket: bucket,
      region: region, regionOfBucket: response.header("x-amz-bucket-region"), pause: Self.pause(response))
  }

  /// - Parameter error: of an answer with the status 200.
  init(_ error: S3ErrorBody, operation: String, bucket: String, region: String) {
    self.init(
      status: 200, error: error, operation: operation, bucket: bucket, region: region, regionOfBucket: nil, pause: nil)
  }

  private init(
    status: Int, error: S3ErrorBody?, operation: String, bucket: String, region: String, regionOfBucket: String?,
    pause: Duration?
  ) {
    let code = error?.code ?? ""
    let answer = [code, error?.message ?? ""].filter { !$0.isEmpty }.joined(separator: ": ")
    func said(_ answer: String) -> String {
      "The store answered \(operation) with the status \(status)" + (answer.isEmpty ? "." : " (\(answer)).")
    }
    let stated = (error?.region ?? regionOfBucket).flatMap { S3Configuration.isRegion($0) ? $0 : nil }
    var isOther = false
    let consequence: Consequence
    var advice = ""
    switch (status, code) {
    case (_, "SlowDown"), (_, "InternalError"), (_, "ServiceUnavailable"), (_, "RequestTimeout"),
      (_, "OperationAborted"),
      (_, "ConditionalRequestConflict"), (_, "Throttling"), (_, "ThrottlingException"), (_, "TooManyRequests"),
      (_, "RequestLimitExceeded"):
      consequence = .again(after: pause)
    case (_, "NoSuchUpload"): consequence = .uploadGone
    case (_, "NoSuchKey"): consequence = .missing
    case (_, "NoSuchBucket"),
      (404, "") where Self.needBucketOnly.contains(operation):
      consequence = .refused
      advice = " The bucket \(bucket) does not exist there, or endpoint and pathStyle are wrong."
    case (_, "PreconditionFailed"), (412, _): consequence = .exists
    case (_, "NotImplemented"), (501, _): consequence = .unsupported
    case (_, "RequestTimeTooSkewed"):
      consequence = .refused
      advice = " The clock of this machine is wrong."
    case (_, "ExpiredToken"), (_, "InvalidToken"), (_, "InvalidAccessKeyId"), (_, "TokenRefreshRequired"),
      (_, "ExpiredTokenException"), (_, "InvalidClientTokenId"), (_, "SignatureDoesNotMatch"):
      consequence = .refused
      isOther = true
      advice = " The credentials are wrong or have ended."
    case (_, "AuthorizationHeaderMalformed"), (_, "IllegalLocationConstraintException"), (301, _), (302, _), (307, _),
      (308, _):
      consequence = .refused
      advice =
        stated.map { " The bucket \(bucket) is in the region \($0), not in \(region)." }
        ?? " The region \(region) or the endpoint is wrong."
    case (400, ""):
      // The answer to Head has no body.
      consequence = .refused
      isOther = true
      advice =
        stated.flatMap { $0 == region ? nil : " The bucket \(bucket) is in the region \($0), not in \(region)." }
        ?? " The credentials may have ended, or the region \(region) is wrong."
    case (401, _), (403, _):
      consequence = .refused
      isOther = true
      advice = " The credentials must allow \(Self.permissions(of: operation)) in the bucket \(bucket)."
    case (404, _): consequence = .missing
    case (408, _), (425, _), (429, _), (500..., _): consequence = .again(after: pause)
    case (409, ""): consequence = .again(after: pause)
    default: consequence = .failed
    }
    self.init(consequence, said(answer) + advice)
    problem = said(code) + advice
    mayBeCredentials = isOther
    self.code = code
  }

  /// Operations that need no object: without an error code, 404 comes from something else than the bucket.
  private static let needBucketOnly: Set = ["PutObject", "CreateMultipartUpload", "ListObjectsV2"]

  /// The names of the actions in a policy that an operation needs.
  private static func permissions(of operation: String) -> String {
    switch operation {
    // Without the right to list, a missing object is hidden behind 403.
    case "HeadObject": "s3:GetObject and s3:ListBucket"
    case "ListObjectsV2": "s3:ListBucket"
    case "ListParts": "s3:ListMultipartUploadParts"
    case "CreateMultipartUpload", "UploadPart", "CompleteMultipartUpload": "s3:PutObject"
    default: "s3:\(operation)"
    }
  }

  /// The pause that the server asks for, in whole seconds.
  private static func pause(_ response: S3Response) -> Duration? {
    guard let text = response.header("retry-after"), let seconds = Int(text), (0...86_400).contains(seconds) else {
      return nil
    }
    return .seconds(seconds)
  }
}

extension ObjectStoreError {
  init(_ failure: S3Failure, key: ObjectKey?) {
    let kind: Kind =
      switch failure.consequence {
      case .again: .timeout
      case .refused: .refused
      case .missing: .missing
      case .exists: .exists
      case .uploadGone, .unsupported, .failed: .storage
      }
    self.init(kind, key.map { "\($0): \(failure.description)" } ?? failure.description)
  }
}
