import FoundationEssentials
import Glibc
import HTTPTypes
import Hummingbird
import JSON
import JobProtocol
import Media
import NIOCore
import ObjectStore
import SQLStore

extension APIResponder {
  /// `GET /v1/jobs/ID/files`
  func files(of job: JobRecord, _ query: APIQuery) async throws -> Response {
    let limit = try query.limit(maximum: APIQuery.maximumFiles, default: APIQuery.maximumFiles)
    let after = try query.filePosition()
    let files = job.deleted ? [] : try await store.files(of: job.id, after: after, limit: limit + 1)
    let shown = Array(files.prefix(limit))
    let last = files.count > limit ? shown.last : nil
    return Self.json(
      .object([
        "files": .array(shown.map(APIDocument.file)),
        "after": .text(last.map { Cursor.text(FilePosition(attempt: $0.attempt, name: $0.name)) }),
      ]))
  }

  /// `GET /v1/jobs/ID/files/NAME`
  func file(_ name: String, of job: JobRecord, _ query: APIQuery, _ request: Request) async throws -> Response {
    var attempt: Int64?
    if let text = query.values["attempt"] {
      guard let number = Int64(text), (1...1_000_000).contains(number), "\(number)" == text else {
        throw APIProblem.parameter("attempt", "attempt is the number of an attempt, from 1.")
      }
      attempt = number
    }
    let object = try await object(name, attempt, of: job)
    if let link = try await objects.link(to: object.key, validFor: Self.linkLifetime) {
      // The link is a secret of the caller, and ends soon: no cache may keep the answer.
      return Response(status: .found, headers: [.location: link, .cacheControl: "no-store"])
    }
    let reader = try await objects.open(object.key)
    var headers: HTTPFields = [
      .contentType: Self.mediaType(ofFile: name), .acceptRanges: "bytes", .cacheControl: "private, max-age=3600",
      // A file is not a page of this origin, whatever a stranger put into it.
      .contentSecurityPolicy: "default-src 'none'; style-src 'unsafe-inline'; img-src data:; media-src 'self'; sandbox",
    ]
    if let sha256 = object.sha256 { headers[.eTag] = "\"\(sha256)\"" }
    let condition = request.headers[.ifRange]
    let isRangeValid = condition == nil || condition == headers[.eTag]
    let range = try ByteRange.range(isRangeValid ? request.headers[.range] : nil, size: reader.size)
    if let range { headers[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(reader.size)" }
    let count = range.map { $0.upperBound - $0.lowerBound } ?? reader.size
    headers[.contentLength] = "\(count)"
    let body = ResponseBody(contentLength: Int(clamping: count)) { writer in
      for try await piece in reader.pieces(of: range) { try await writer.write(ByteBuffer(bytes: piece)) }
      try await writer.finish(nil)
    }
    return Response(status: range == nil ? .ok : .partialContent, headers: headers, body: body)
  }

  /// How long a link to a file is valid.
  private static let linkLifetime = Duration.seconds(300)

  /// The object of a file: that of the newest attempt, unless one is asked for.
  private func object(
    _ name: String, _ attempt: Int64?, of job: JobRecord
  ) async throws -> (key: ObjectKey, sha256: String?) {
    let missing = APIProblem(.notFound, "The job has no such file.")
    guard !job.deleted, job.deleteRequestedAt == nil else { throw missing }
    if attempt == nil, let number = RecordingDocument.number(ofName: name), number <= job.amendments + 1 {
      guard job.manifestStoredAt != nil, let path = job.objectPath.flatMap({ ObjectKey($0) }),
        let key = path.appending(name)
      else { throw missing }
      return (key, nil)
    }
    let files = try await store.files(of: job.id)
    let found = files.last { file in
      // By bytes: names that look the same are not the same file.
      file.name.utf8.elementsEqual(name.utf8) && (attempt == nil || file.attempt == attempt)
    }
    guard let file = found,
      let key = ObjectKey(file.object)
    else { throw missing }
    return (key, file.sha256)
  }

  /// By the end of the name, which a stranger cannot choose.
  static func mediaType(ofFile name: String) -> String {
    let types = [
      ".webm": "video/webm", ".mkv": "video/x-matroska", ".ogg": "audio/ogg", ".mka": "audio/x-matroska",
      ".json": "application/json", ".ndjson": "application/x-ndjson", ".png": "image/png", ".txt": "text/plain",
      ".html": "text/html; charset=utf-8",
    ]
    let end = name.utf8.lastIndex(of: UInt8(ascii: ".")).map { String(decoding: name.utf8[$0...], as: UTF8.self) }
    return end.flatMap { types[$0] } ?? "application/octet-stream"
  }

  /// `DELETE /v1/jobs/ID/recording`
  func deleteRecording(of job: JobRecord) async throws -> Response {
    guard job.state.isEnded else {
      throw APIProblem(.jobNotEnded, "The recording of a job can be deleted when the job has ended.")
    }
    try await store.requestDeletion(of: job.id)
    var record = try await store.job(job.id) ?? job
    let end = MonotonicInstant.now + Self.commandWait
    while !record.deleted, MonotonicInstant.now < end {
      try await ServiceTimer.sleep(for: .milliseconds(100))
      record = try await store.job(job.id) ?? job
    }
    return Self.json(try await document(record), status: record.deleted ? .ok : .accepted)
  }

  /// `GET /v1/jobs/ID/users/USER/snapshot.png`
  func snapshot(of user: String, in job: JobRecord) async throws -> Response {
    do throws(SnapshotProblem) {
      let png = try await control.snapshot(of: user, in: job.id)
      return Response(
        status: .ok, headers: [.contentType: "image/png"], body: ResponseBody(byteBuffer: ByteBuffer(bytes: png)))
    } catch {
      switch error {
      case .noProcess: throw APIProblem(.jobNotRunning)
      case .noFrame(let sentence): throw APIProblem(.notFound, sentence.printable(utf8Bytes: 300))
      case .tooOften:
        var problem = APIProblem(.tooManyRequests, "A user has one snapshot in 2 s.")
        problem.retryAfter = 2
        throw problem
      }
    }
  }

  /// `GET /v1/jobs/ID/logs`: the end of the log of the newest attempt that has one.
  func logs(of job: JobRecord, _ query: APIQuery) async throws -> Response {
    let limit = try query.limit(maximum: APIQuery.maximumLogLines, default: 1_000)
    var bytes: [UInt8]?
    for attempt in try await store.attempts(of: job.id).reversed() {
      let path = "\(data)/\(attempt.folder)/\(JobFolder.log)"
      bytes = try await BlockingWork.run("log", within: .seconds(10)) { LogTail.read(path) }
      if bytes != nil { break }
    }
    if bytes == nil, !job.deleted,
      let file = try await store.files(of: job.id).last(where: { $0.name == JobFolder.log }),
      let key = ObjectKey(file.object)
    {
      let reader = try await objects.open(key)
      var stored: [UInt8] = []
      for try await piece in reader.pieces(of: max(0, reader.size - Int64(LogTail.maximumBytes))..<reader.size) {
        stored += piece
      }
      bytes = stored
    }
    let lines = LogTail.lines(bytes ?? [], limit: limit)
    return Response(
      status: .ok, headers: [.contentType: "application/x-ndjson"],
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: lines)))
  }
}

/// The end of a log.
enum LogTail {
  static let maximumBytes = 1 << 20

  /// Returns the last bytes of a file; nil if it cannot be read. Blocks.
  static func read(_ path: String) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    let size = lseek(descriptor, 0, SEEK_END)
    guard size >= 0, lseek(descriptor, max(0, size - off_t(maximumBytes)), SEEK_SET) >= 0 else { return nil }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while bytes.count < 2 * maximumBytes {
      let count = Glibc.read(descriptor, &buffer, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      bytes += buffer[..<count]
    }
    return bytes
  }

  /// Returns the last whole lines.
  static func lines(_ bytes: [UInt8], limit: Int) -> [UInt8] {
    var lines = bytes.split(separator: UInt8(ascii: "\n"))
    // The first one may be a part, and the last one may be unfinished.
    if bytes.count >= maximumBytes, !lines.isEmpty { lines.removeFirst() }
    if bytes.last != UInt8(ascii: "\n"), !lines.isEmpty { lines.removeLast() }
    return Array(lines.suffix(limit).map { Array($0) + [UInt8(ascii: "\n")] }.joined())
  }
}
