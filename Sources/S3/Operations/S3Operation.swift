internal import Media
internal import ObjectStore

/// One operation of S3, before it is signed.
struct S3Operation: Sendable {
  /// As in the reference of S3 and its permissions, such as `PutObject`.
  var name: String
  var method: String
  /// In the bucket; nil for the bucket itself.
  var key: String?
  var query: [SignatureV4.Pair] = []
  var headers: [SignatureV4.Pair] = []
  var body = S3Request.Body.bytes([])
  /// The SHA-256 of the body.
  var digest = SignatureV4.emptyDigest
  var maximumAnswer = 1 << 20
  var pacer: UploadPacer?
  /// The statuses that are no failure.
  var expected: Set<Int> = [200]

  init(_ name: String, _ method: String, key: String?) {
    self.name = name
    self.method = method
    self.key = key
  }

  /// The slowest rate at which a body is waited for, in bytes a second.
  static let minimumRate: Int64 = 16_384

  /// The time until the answer must be there. Many uploads may share the rate of a pacer.
  var limit: Duration {
    let rate = min(Self.minimumRate, pacer.map { max(1, $0.bytesPerSecond / 64) } ?? .max)
    return .seconds(30) + .seconds(body.count / rate)
  }
}

extension S3Operation {
  /// What an object is stored with.
  struct Attributes: Sendable, Hashable {
    var sha256: String
    var encryption: S3Configuration.ServerSideEncryption?

    static let digestHeader = "x-amz-meta-chatbot-sha256"

    func headers(for key: String) -> [SignatureV4.Pair] {
      var headers = [
        SignatureV4.Pair("content-type", ObjectMediaType.of(key)), SignatureV4.Pair(Self.digestHeader, sha256),
      ]
      switch encryption {
      case .aes256: headers.append(SignatureV4.Pair("x-amz-server-side-encryption", "AES256"))
      case .kms(let id):
        headers.append(SignatureV4.Pair("x-amz-server-side-encryption", "aws:kms"))
        if let id { headers.append(SignatureV4.Pair("x-amz-server-side-encryption-aws-kms-key-id", id)) }
      case nil: break
      }
      return headers
    }
  }

  private static let condition = SignatureV4.Pair("if-none-match", "*")

  static func put(
    _ key: String, _ body: S3Request.Body, digest: String, _ attributes: Attributes, isConditional: Bool,
    pacer: UploadPacer?
  ) -> S3Operation {
    var operation = S3Operation("PutObject", "PUT", key: key)
    operation.headers = attributes.headers(for: key) + (isConditional ? [condition] : [])
    operation.body = body
    operation.digest = digest
    operation.pacer = pacer
    return operation
  }

  static func createUpload(_ key: String, _ attributes: Attributes) -> S3Operation {
    var operation = S3Operation("CreateMultipartUpload", "POST", key: key)
    operation.query = [SignatureV4.Pair("uploads", "")]
    operation.headers = attributes.headers(for: key)
    return operation
  }

  static func uploadPart(
    _ key: String, _ uploadID: String, number: Int, _ body: S3Request.Body, digest: String, pacer: UploadPacer?
  ) -> S3Operation {
    var operation = S3Operation("UploadPart", "PUT", key: key)
    operation.query = [SignatureV4.Pair("partNumber", "\(number)"), SignatureV4.Pair("uploadId", uploadID)]
    operation.body = body
    operation.digest = digest
    operation.pacer = pacer
    return operation
  }

  static func listParts(_ key: String, _ uploadID: String, after number: Int?) -> S3Operation {
    var operation = S3Operation("ListParts", "GET", key: key)
    operation.query = [SignatureV4.Pair("uploadId", uploadID), SignatureV4.Pair("max-parts", "1000")]
    if let number { operation.query.append(SignatureV4.Pair("part-number-marker", "\(number)")) }
    return operation
  }

  static func completeUpload(
    _ key: String, _ uploadID: String, _ parts: [UploadedPart], isConditional: Bool
  ) -> S3Operation {
    var operation = S3Operation("CompleteMultipartUpload", "POST", key: key)
    operation.query = [SignatureV4.Pair("uploadId", uploadID)]
    operation.headers = [SignatureV4.Pair("content-type", "application/xml")] + (isConditional ? [condition] : [])
    let list = parts.map { part in
      "<Part><PartNumber>\(part.number)</PartNumber><ETag>\(XMLText.escape(part.tag))</ETag></Part>"
    }
    let text =
      "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">\(list.joined())</CompleteMultipartUpload>"
    operation.body = .bytes(Array(text.utf8))
    operation.digest = ObjectDigest.hex(of: Array(text.utf8))
    return operation
  }

  static func abortUpload(_ key: String, _ uploadID: String) -> S3Operation {
    var operation = S3Operation("AbortMultipartUpload", "DELETE", key: key)
    operation.query = [SignatureV4.Pair("uploadId", uploadID)]
    operation.expected = [200, 204, 404]
    return operation
  }

  static func head(_ key: String) -> S3Operation { S3Operation("HeadObject", "HEAD", key: key) }

  static func get(_ key: String, _ range: Range<Int64>) -> S3Operation {
    var operation = S3Operation("GetObject", "GET", key: key)
    operation.headers = [SignatureV4.Pair("range", "bytes=\(range.lowerBound)-\(range.upperBound - 1)")]
    // The answer may be an error, which is longer than a small object.
    operation.maximumAnswer = max(Int(clamping: range.upperBound - range.lowerBound), 1 << 16)
    operation.expected = [200, 206]
    return operation
  }

  static func list(prefix: String, after token: String?) -> S3Operation {
    var operation = S3Operation("ListObjectsV2", "GET", key: nil)
    operation.query = [
      SignatureV4.Pair("list-type", "2"), SignatureV4.Pair("encoding-type", "url"), SignatureV4.Pair("prefix", prefix),
    ]
    if let token { operation.query.append(SignatureV4.Pair("continuation-token", token)) }
    operation.maximumAnswer = 8 << 20
    return operation
  }

  static func delete(_ key: String) -> S3Operation {
    var operation = S3Operation("DeleteObject", "DELETE", key: key)
    operation.expected = [200, 204, 404]
    return operation
  }
}

/// Text in XML.
enum XMLText {
  static func escape(_ text: String) -> String {
    text.utf8.reduce(into: "") { escaped, byte in
      switch byte {
      case UInt8(ascii: "&"): escaped += "&amp;"
      case UInt8(ascii: "<"): escaped += "&lt;"
      case UInt8(ascii: ">"): escaped += "&gt;"
      case UInt8(ascii: "\""): escaped += "&quot;"
      default: escaped.unicodeScalars.append(Unicode.Scalar(byte))
      }
    }
  }
}

/// The media type that browsers are told of an object. A file that a stranger may have sent is not a page.
enum ObjectMediaType {
  static func of(_ key: String) -> String {
    let types = [
      "webm": "video/webm", "mkv": "video/x-matroska", "ogg": "audio/ogg", "mka": "audio/x-matroska",
      "json": "application/json", "ndjson": "application/x-ndjson", "png": "image/png", "txt": "text/plain",
    ]
    return key.split(separator: ".").last.flatMap { types[String($0)] } ?? "application/octet-stream"
  }
}
