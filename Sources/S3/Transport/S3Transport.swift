package import ObjectStore

/// What sends requests to a server over HTTP. It follows no redirects: a signature is valid for one host.
package protocol S3Transport: Sendable {
  /// Sends a request and waits for the whole answer.
  ///
  /// - Throws: an ``S3TransportError``; `CancellationError` when the task is cancelled.
  func send(_ request: S3Request) async throws -> S3Response
}

/// A request that is ready to be sent.
package struct S3Request: Sendable {
  package enum Body: Sendable {
    case bytes([UInt8])
    /// A part of a file, which is read while it is sent.
    case file(SourceFile, Range<Int64>)

    package var count: Int64 {
      switch self {
      case .bytes(let bytes): Int64(bytes.count)
      case .file(_, let range): range.upperBound - range.lowerBound
      }
    }
  }

  package var method: String
  /// With scheme, host, path and query.
  package var url: String
  package var headers: [(name: String, value: String)]
  package var body: Body
  /// The time until the answer is whole.
  package var limit: Duration
  /// The maximum size of the answer's body in bytes.
  package var maximumAnswer: Int
  /// How fast the body may be sent; nil: as fast as the server takes it.
  package var pacer: UploadPacer?

  package init(
    method: String, url: String, headers: [(name: String, value: String)] = [], body: Body = .bytes([]),
    limit: Duration = .seconds(30), maximumAnswer: Int = 1 << 20, pacer: UploadPacer? = nil
  ) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
    self.limit = limit
    self.maximumAnswer = maximumAnswer
    self.pacer = pacer
  }
}

/// An answer.
package struct S3Response: Sendable {
  package var status: Int
  package var headers: [(name: String, value: String)]
  package var body: [UInt8]

  package init(status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// Returns the first header of a name.
  ///
  /// - Parameter name: in small letters.
  package func header(_ name: String) -> String? {
    headers.first { header in
      header.name.utf8.count == name.utf8.count
        && zip(header.name.utf8, name.utf8).allSatisfy { one, other in
          ((0x41...0x5A).contains(one) ? one | 0x20 : one) == other
        }
    }?.value
  }
}

/// Why there is no answer. The request may have been carried out.
package enum S3TransportError: Error, Sendable, Hashable, CustomStringConvertible {
  case timeout
  /// There is no connection, or it ended. A text says more.
  case connection(String)
  /// The answer is larger than expected.
  case tooLarge
  /// What is to be sent cannot be read.
  case source(ObjectStoreError)

  package var description: String {
    switch self {
    case .timeout: "The store gave no answer in time."
    case .connection(let text): "The connection to the store failed: \(text)."
    case .tooLarge: "The answer of the store is too large."
    case .source(let error): error.description
    }
  }
}
