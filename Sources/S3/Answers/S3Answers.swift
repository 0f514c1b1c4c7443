package import Media

/// The beginning of an upload in parts.
package struct StartedUpload: Sendable, Hashable {
  package var uploadID: String

  package init?(parsing bytes: [UInt8]) {
    guard let root = try? XMLReader.read(bytes), root.name == "InitiateMultipartUploadResult",
      let id = root.text(of: "UploadId"), UploadedPart.isIdentifier(id, longest: 1_500)
    else { return nil }
    uploadID = id
  }
}

/// A part that the store has.
package struct UploadedPart: Sendable, Hashable {
  package var number: Int
  /// With its quotation marks.
  package var tag: String
  package var bytes: Int64

  package static func isIdentifier(_ text: String, longest: Int) -> Bool {
    (1...longest).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
  }
}

/// A page of the parts of an upload.
package struct PartsPage: Sendable, Hashable {
  package var parts: [UploadedPart] = []
  /// The number behind which the next page begins; nil for the last page.
  package var next: Int?

  package init?(parsing bytes: [UInt8]) {
    guard let root = try? XMLReader.read(bytes), root.name == "ListPartsResult" else { return nil }
    for part in root.all("Part") {
      guard let number = part.text(of: "PartNumber").flatMap({ Int($0) }), (1...10_000).contains(number),
        let tag = part.text(of: "ETag"), UploadedPart.isIdentifier(tag, longest: 200),
        let bytes = part.text(of: "Size").flatMap({ Int64($0) }), bytes >= 0
      else { return nil }
      parts.append(UploadedPart(number: number, tag: tag, bytes: bytes))
    }
    guard root.text(of: "IsTruncated") == "true" else { return }
    guard let next = root.text(of: "NextPartNumberMarker").flatMap({ Int($0) }), (1...10_000).contains(next) else {
      return nil
    }
    self.next = next
  }
}

/// A page of keys.
package struct KeysPage: Sendable, Hashable {
  /// As they are in the bucket.
  package var keys: [UntrustedText] = []
  /// With what the next page is asked for; nil for the last page.
  package var next: String?

  /// - Parameter bytes: an answer of `ListObjectsV2` with `encoding-type=url`.
  package init?(parsing bytes: [UInt8]) {
    guard let root = try? XMLReader.read(bytes), root.name == "ListBucketResult" else { return nil }
    let isEncoded = root.text(of: "EncodingType") == "url"
    for object in root.all("Contents") {
      guard let key = object.text(of: "Key") else { return nil }
      keys.append(UntrustedText(isEncoded ? PercentEncoding.decodeForm(key) : key))
    }
    guard root.text(of: "IsTruncated") == "true" else { return }
    guard let next = root.text(of: "NextContinuationToken"), UploadedPart.isIdentifier(next, longest: 4_096) else {
      return nil
    }
    self.next = next
  }
}

/// The answer to the end of an upload in parts. With the status 200 it can be an error.
package enum Completion: Sendable, Hashable {
  case done
  case failed(S3ErrorBody)

  /// Nil if it is neither: the answer may be cut.
  package init?(parsing bytes: [UInt8]) {
    guard let root = try? XMLReader.read(bytes) else { return nil }
    if let error = S3ErrorBody(root) {
      self = .failed(error)
    } else if root.name == "CompleteMultipartUploadResult" {
      self = .done
    } else {
      return nil
    }
  }
}
