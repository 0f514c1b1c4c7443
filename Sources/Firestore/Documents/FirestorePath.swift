internal import Media

/// One id of a collection or a document (Firestore "Collections, documents, fields and transactions": constraints on
/// ids).
package struct FirestoreID: Sendable, Hashable, CustomStringConvertible, ExpressibleByStringLiteral {
  /// Why a text is not an id.
  package struct ParseError: Error, Sendable, Hashable, CustomStringConvertible {
    let text: String

    package var description: String {
      "\"\(text.printable())\" is not an id of Firestore, which has 1 to 1,500 bytes and no slash."
    }
  }

  package let text: String

  package init(_ text: String) throws(ParseError) {
    let bytes = text.utf8
    let isReserved =
      bytes.count >= 4 && bytes.prefix(2).elementsEqual("__".utf8) && bytes.suffix(2).elementsEqual("__".utf8)
    let isDots = bytes.count <= 2 && bytes.allSatisfy { $0 == UInt8(ascii: ".") }
    guard (1...1_500).contains(bytes.count), !bytes.contains(UInt8(ascii: "/")), !isDots, !isReserved
    else { throw ParseError(text: text) }
    self.text = text
  }

  /// Ids are compared by their bytes, as the database compares them.
  package static func == (one: Self, other: Self) -> Bool { UntrustedText(one.text) == UntrustedText(other.text) }
  package func hash(into hasher: inout Hasher) { hasher.combine(UntrustedText(text)) }

  /// For ids in the source.
  package init(stringLiteral text: String) { self.text = text }

  package var description: String { text }

  /// The id in a URL's path (RFC 3986, 3.3): all bytes besides the unreserved ones are percent-encoded.
  var percentEncoded: String { PercentEncoding.encode(text) }
}

/// The path of a collection, for example `rooms/42/host`. It has an odd number of ids.
package struct CollectionPath: Sendable, Hashable, CustomStringConvertible {
  package let ids: [FirestoreID]

  fileprivate init(ids: [FirestoreID]) { self.ids = ids }

  /// A collection that belongs to no document.
  package init(_ id: FirestoreID) { ids = [id] }

  package func document(_ id: FirestoreID) -> DocumentPath { DocumentPath(ids: ids + [id]) }

  package var description: String { ids.map(\.text).joined(separator: "/") }
}

/// The path of a document below the root of a database, for example `rooms/42`. It has an even number of ids.
package struct DocumentPath: Sendable, Hashable, CustomStringConvertible {
  package let ids: [FirestoreID]

  fileprivate init(ids: [FirestoreID]) { self.ids = ids }

  /// Parses the part of a document's name after `/documents/`.
  package init?(parsing text: Substring) {
    let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    guard parts.count.isMultiple(of: 2), parts.count <= 100 else { return nil }
    var ids: [FirestoreID] = []
    for part in parts {
      guard let id = try? FirestoreID(String(Substring(part))) else { return nil }
      ids.append(id)
    }
    guard !ids.isEmpty else { return nil }
    self.ids = ids
  }

  package func collection(_ id: FirestoreID) -> CollectionPath { CollectionPath(ids: ids + [id]) }

  /// The last id.
  package var id: FirestoreID { ids.last ?? "" }

  package var description: String { ids.map(\.text).joined(separator: "/") }
}

/// Percent-encoding of texts in paths, queries and forms.
enum PercentEncoding {
  static func encode(_ text: String) -> String {
    var encoded = ""
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
        UInt8(ascii: "~"):
        encoded.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        let digits = String(byte, radix: 16, uppercase: true)
        encoded += digits.utf8.count == 1 ? "%0\(digits)" : "%\(digits)"
      }
    }
    return encoded
  }

  /// Decodes a part of an address; nil if it is not valid UTF-8 in percent-encoding.
  static func decode(_ text: Substring) -> String? {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard rest.count >= 2, let value = UInt8(String(Substring(rest.prefix(2))), radix: 16) else { return nil }
      bytes.append(value)
      rest = rest.dropFirst(2)
    }
    return String(validating: bytes, as: UTF8.self)
  }
}
