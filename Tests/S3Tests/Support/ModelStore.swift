import Foundation
import ObjectStore
import S3
import Synchronization
import TestSupport

/// A store in memory that answers as S3 does, with faults.
final class ModelStore: S3Transport {
  enum Fault: Sendable, Hashable, CaseIterable {
    /// There is no connection.
    case unreachable
    /// It is carried out, and the answer is lost.
    case answerLost
    case timeout
    case slowDown
    case internalError
    /// The end of an upload is carried out or not, and is answered by 200 with an error.
    case errorInside
    case tooMany
  }

  struct Object: Sendable, Hashable {
    var bytes: [UInt8]
    var headers: [String: String]
  }

  struct Upload: Sendable {
    var key: String
    var headers: [String: String]
    var parts: [Int: [UInt8]] = [:]
  }

  struct State: Sendable {
    var objects: [String: Object] = [:]
    var uploads: [String: Upload] = [:]
    var requests: [S3Request] = []
    var generator = SeededGenerator(seed: 1)
    /// The part of requests that fail.
    var faultRate = 0.0
    var isConditional = true
    /// Answers that are given before anything else.
    var scripted: [S3Response] = []
    /// Called for each request; an answer ends it.
    var intercept: (@Sendable (S3Request, inout State) throws -> S3Response?)?
    var overwritten: [String] = []
    var nextUpload = 1
    /// The parts that a page has.
    var pageSize = 2
  }

  let state: Mutex<State>

  init(seed: UInt64 = 1, faultRate: Double = 0) {
    var state = State()
    state.generator = SeededGenerator(seed: seed)
    state.faultRate = faultRate
    self.state = Mutex(state)
  }

  var objects: [String: Object] { state.withLock { $0.objects } }
  var requests: [S3Request] { state.withLock { $0.requests } }
  func change(_ body: (inout State) -> Void) { state.withLock { body(&$0) } }

  /// `PutObject` and so on, without a query of the key.
  static func name(_ request: S3Request) -> String {
    "\(request.method) \(URLComponents(string: request.url)?.path ?? "")"
  }

  func send(_ request: S3Request) async throws -> S3Response {
    try Task.checkCancellation()
    let body: [UInt8]
    switch request.body {
    case .bytes(let bytes): body = bytes
    case .file(let file, let range):
      var bytes = [UInt8](repeating: 0, count: Int(range.count))
      let count = try bytes.withUnsafeMutableBytes { try file.read(from: range.lowerBound, into: $0) }
      body = Array(bytes[..<count])
    }
    return try state.withLock { state in
      state.requests.append(request)
      if let answer = try state.intercept?(request, &state) { return answer }
      if !state.scripted.isEmpty { return state.scripted.removeFirst() }
      guard Double.random(in: 0..<1, using: &state.generator) < state.faultRate,
        let fault = Fault.allCases.randomElement(using: &state.generator)
      else { return answer(request, body, &state) }
      switch fault {
      case .unreachable: throw S3TransportError.connection("refused")
      case .timeout: throw S3TransportError.timeout
      case .answerLost:
        _ = answer(request, body, &state)
        throw S3TransportError.connection("closed")
      case .slowDown: return Self.error(503, "SlowDown")
      case .tooMany: return S3Response(status: 429, headers: [("Retry-After", "3")])
      case .internalError: return Self.error(500, "InternalError")
      case .errorInside:
        guard request.method == "POST", request.url.contains("uploadId=") else { return answer(request, body, &state) }
        if Bool.random(using: &state.generator) { _ = answer(request, body, &state) }
        return Self.error(200, "InternalError")
      }
    }
  }

  static func error(_ status: Int, _ code: String, _ more: String = "") -> S3Response {
    S3Response(
      status: status,
      body: Array("<?xml version=\"1.0\"?>\n<Error><Code>\(code)</Code><Message>No.</Message>\(more)</Error>".utf8))
  }

  private func answer(_ request: S3Request, _ body: [UInt8], _ state: inout State) -> S3Response {
    guard let url = URLComponents(string: request.url) else { return S3Response(status: 400) }
    let key = String(url.path.drop { $0 == "/" }.drop { $0 != "/" }.dropFirst())
    let query = Dictionary(
      (url.queryItems ?? []).map { ($0.name, $0.value ?? "") }, uniquingKeysWith: { one, _ in one })
    let headers = Dictionary(request.headers.map { ($0.name, $0.value) }, uniquingKeysWith: { one, _ in one })
    guard headers["x-amz-content-sha256"] == ObjectDigest.hex(of: body) else {
      return Self.error(400, "XAmzContentSHA256Mismatch")
    }
    let kept = headers.filter {
      $0.key.hasPrefix("x-amz-meta-") || $0.key.hasPrefix("x-amz-server") || $0.key == "content-type"
    }
    let isRefused = state.isConditional && headers["if-none-match"] == "*" && state.objects[key] != nil
    func tag(_ bytes: [UInt8]) -> String { "\"\(ObjectDigest.hex(of: bytes).prefix(32))\"" }

    switch (request.method, query["uploadId"]) {
    case ("HEAD", _):
      guard let object = state.objects[key] else { return S3Response(status: 404) }
      return S3Response(
        status: 200, headers: [("Content-Length", "\(object.bytes.count)")] + object.headers.map { ($0.key, $0.value) })
    case ("GET", nil) where key.isEmpty:
      let prefix = query["prefix"] ?? ""
      let found = state.objects.keys.filter { $0.hasPrefix(prefix) }.sorted()
      let start = query["continuation-token"].flatMap { Int($0) } ?? 0
      let page = found.dropFirst(start).prefix(state.pageSize)
      let hasMore = start + page.count < found.count
      let list = page.map { "<Contents><Key>\($0)</Key><Size>1</Size></Contents>" }.joined()
      let next = hasMore ? "<NextContinuationToken>\(start + page.count)</NextContinuationToken>" : ""
      return S3Response(
        status: 200,
        body: Array(
          "<ListBucketResult><IsTruncated>\(hasMore)</IsTruncated><EncodingType>url</EncodingType>\(next)\(list)</ListBucketResult>"
            .utf8))
    case ("GET", let id?):
      guard let upload = state.uploads[id] else { return Self.error(404, "NoSuchUpload") }
      let marker = query["part-number-marker"].flatMap { Int($0) } ?? 0
      let found = upload.parts.keys.filter { $0 > marker }.sorted()
      let page = found.prefix(state.pageSize)
      let list = page.map { number in
        let bytes = upload.parts[number] ?? []
        return "<Part><PartNumber>\(number)</PartNumber><ETag>\(tag(bytes))</ETag><Size>\(bytes.count)</Size></Part>"
      }.joined()
      let hasMore = page.count < found.count
      return S3Response(
        status: 200,
        body: Array(
          "<ListPartsResult><IsTruncated>\(hasMore)</IsTruncated><NextPartNumberMarker>\(page.last ?? marker)</NextPartNumberMarker>\(list)</ListPartsResult>"
            .utf8))
    case ("GET", nil):
      guard let object = state.objects[key] else { return Self.error(404, "NoSuchKey") }
      let words = (headers["range"] ?? "bytes=0-").dropFirst(6).split(separator: "-").compactMap { Int($0) }
      let first = words.first ?? 0
      let last = min(words.count > 1 ? words[1] : .max, object.bytes.count - 1)
      guard first <= last else { return Self.error(416, "InvalidRange") }
      return S3Response(status: 206, body: Array(object.bytes[first...last]))
    case ("PUT", nil):
      if isRefused { return Self.error(412, "PreconditionFailed") }
      if let old = state.objects[key], old.bytes != body { state.overwritten.append(key) }
      state.objects[key] = Object(bytes: body, headers: kept)
      return S3Response(status: 200, headers: [("ETag", tag(body))])
    case ("PUT", let id?):
      guard state.uploads[id] != nil, let number = query["partNumber"].flatMap({ Int($0) }) else {
        return Self.error(404, "NoSuchUpload")
      }
      state.uploads[id]?.parts[number] = body
      return S3Response(status: 200, headers: [("ETag", tag(body))])
    case ("POST", nil):
      let id = "upload-\(state.nextUpload)"
      state.nextUpload += 1
      state.uploads[id] = Upload(key: key, headers: kept)
      return S3Response(
        status: 200,
        body: Array("<InitiateMultipartUploadResult><UploadId>\(id)</UploadId></InitiateMultipartUploadResult>".utf8))
    case ("POST", let id?):
      guard let upload = state.uploads[id] else { return Self.error(404, "NoSuchUpload") }
      if isRefused { return Self.error(412, "PreconditionFailed") }
      let list = (try? XMLReader.read(body))?.all("Part") ?? []
      var bytes: [UInt8] = []
      for part in list {
        guard let number = part.text(of: "PartNumber").flatMap({ Int($0) }), let sent = upload.parts[number],
          part.text(of: "ETag") == tag(sent)
        else { return Self.error(400, "InvalidPart") }
        bytes += sent
      }
      if let old = state.objects[key], old.bytes != bytes { state.overwritten.append(key) }
      state.objects[key] = Object(bytes: bytes, headers: upload.headers)
      state.uploads[id] = nil
      return S3Response(
        status: 200,
        body: Array("\n <CompleteMultipartUploadResult><ETag>x</ETag></CompleteMultipartUploadResult>".utf8))
    case ("DELETE", nil):
      state.objects[key] = nil
      return S3Response(status: 204)
    case ("DELETE", let id?):
      guard state.uploads.removeValue(forKey: id) != nil else { return Self.error(404, "NoSuchUpload") }
      return S3Response(status: 204)
    default: return S3Response(status: 405)
    }
  }
}
