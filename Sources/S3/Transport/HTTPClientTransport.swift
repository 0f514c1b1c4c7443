internal import AsyncHTTPClient
internal import Glibc
internal import Media
internal import NIOCore
internal import NIOHTTP1
internal import ObjectStore
internal import Synchronization

/// Requests by AsyncHTTPClient.
package final class HTTPClientTransport: S3Transport {
  private let client: HTTPClient
  private let isShutDown = Mutex(false)

  /// The bytes of a file that are in memory for each request that sends one.
  static let pieceSize = 256 << 10

  package init() {
    var configuration = HTTPClient.Configuration()
    configuration.redirectConfiguration = .disallow
    configuration.httpVersion = .http1Only
    configuration.timeout.connect = .seconds(10)
    configuration.timeout.read = .seconds(60)
    configuration.timeout.write = .seconds(60)
    configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 32
    // The operations try again, with a longer pause.
    configuration.connectionPool.retryConnectionEstablishment = false
    client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
  }

  deinit {
    if !isShutDown.withLock({ $0 }) { _ = client.shutdown() as EventLoopFuture<Void> }
  }

  /// Ends all requests and connections.
  package func shutdown() async {
    let isFirst = isShutDown.withLock { isShutDown in
      defer { isShutDown = true }
      return !isShutDown
    }
    if isFirst { try? await client.shutdown() }
  }

  package func send(_ request: S3Request) async throws -> S3Response {
    var prepared = HTTPClientRequest(url: request.url)
    prepared.method = HTTPMethod(rawValue: request.method)
    for (name, value) in request.headers { prepared.headers.add(name: name, value: value) }
    switch request.body {
    case .bytes(let bytes):
      if !bytes.isEmpty || request.method == "PUT" || request.method == "POST" {
        prepared.body = .bytes(ByteBuffer(bytes: bytes))
        try await request.pacer?.wait(for: bytes.count)
      }
    case .file(let file, let range):
      prepared.body = .stream(
        FilePieces(file: file, range: range, pacer: request.pacer), length: .known(request.body.count))
    }
    do {
      let response = try await client.execute(prepared, deadline: .now() + Self.amount(request.limit))
      let body = try await response.body.collect(upTo: request.maximumAnswer)
      return S3Response(
        status: Int(response.status.code), headers: response.headers.map { ($0.name, $0.value) },
        body: Array(body.readableBytesView))
    } catch {
      throw Self.described(error)
    }
  }

  private static func amount(_ duration: Duration) -> TimeAmount {
    .milliseconds(Int64(max(0, duration.seconds) * 1_000))
  }

  private static func described(_ error: any Error) -> any Error {
    switch error {
    case is CancellationError: return error
    case let error as S3TransportError: return error
    case let error as ObjectStoreError: return S3TransportError.source(error)
    case is NIOTooManyBytesError: return S3TransportError.tooLarge
    case let error as HTTPClientError:
      switch error {
      case .cancelled: return CancellationError()
      case .deadlineExceeded, .readTimeout, .writeTimeout, .connectTimeout, .getConnectionFromPoolTimeout,
        .requestStreamCancelled, .tlsHandshakeTimeout, .httpProxyHandshakeTimeout, .socksHandshakeTimeout:
        return S3TransportError.timeout
      default: return S3TransportError.connection(error.shortDescription.printable())
      }
    // Its description has brackets that do not match.
    case let error as IOError:
      let reason = strerror(error.errnoCode).map { String(cString: $0) } ?? "error \(error.errnoCode)"
      return S3TransportError.connection(reason)
    default: return S3TransportError.connection("\(error)".printable(utf8Bytes: 300))
    }
  }
}

/// A part of a file, read piece by piece as it is sent.
private struct FilePieces: AsyncSequence, Sendable {
  typealias Element = ByteBuffer

  let file: SourceFile
  let range: Range<Int64>
  let pacer: UploadPacer?

  struct AsyncIterator: AsyncIteratorProtocol {
    let file: SourceFile
    var rest: Range<Int64>
    let pacer: UploadPacer?

    mutating func next() async throws -> ByteBuffer? {
      guard !rest.isEmpty else { return nil }
      let size = pacer?.pieceSize ?? HTTPClientTransport.pieceSize
      let count = Int(Swift.min(rest.upperBound - rest.lowerBound, Int64(size)))
      try await pacer?.wait(for: count)
      let (file, offset) = (file, rest.lowerBound)
      let piece = try await BlockingWork.run("upload", niceness: 10, within: .seconds(60)) {
        var buffer = ByteBuffer()
        try buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { bytes in
          try file.read(from: offset, into: UnsafeMutableRawBufferPointer(rebasing: bytes[..<count]))
        }
        return buffer
      }
      guard piece.readableBytes == count else {
        throw ObjectStoreError(.storage, "\(file.path.printable(utf8Bytes: 500)) is shorter than it was.")
      }
      rest = (rest.lowerBound + Int64(count))..<rest.upperBound
      return piece
    }
  }

  func makeAsyncIterator() -> AsyncIterator { AsyncIterator(file: file, rest: range, pacer: pacer) }
}
