import FoundationEssentials
import Media

extension CheckReport {
  /// The reason why a text is not a report.
  public struct ReadingError: Error, Sendable, Hashable, CustomStringConvertible {
    public let reason: String

    public var description: String { "This is not a check report: \(reason)." }
  }

  /// The report as JSON, with its keys in alphabetical order.
  public var json: String {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
      return String(decoding: try encoder.encode(self), as: UTF8.self).escapingInvisibleInJSON + "\n"
    }
  }

  /// A limit above any text that a check writes.
  private static let maximumRunOutsideASCII = 1_000

  /// The fields of version 1 whose names changed, with their present names.
  private static let renamedFields = [
    "cameLate": "timeLeftAfterLateJoin", "leftOut": "skippedFrames", "pictures": "frames", "picturesRead": "framesRead",
    "picturesUnreadable": "framesUnreadable",
  ]

  private struct FieldName: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  /// Parses a report's JSON of version 1 or 2; the report has our version. A higher version is refused, since its fields may
  /// have another meaning.
  public init(parsing json: [UInt8]) throws(ReadingError) {
    struct Heading: Decodable {
      let version: Int
    }
    if json.hasRunOutsideASCII(overInJSON: Self.maximumRunOutsideASCII) {
      throw ReadingError(reason: "more than \(Self.maximumRunOutsideASCII) bytes in a row are not ASCII")
    }
    let read: CheckReport
    do {
      let version = try JSONDecoder().decode(Heading.self, from: Data(json)).version
      guard (1...Self.currentVersion).contains(version) else {
        throw ReadingError(reason: "its version is \(version), but this program supports up to \(Self.currentVersion)")
      }
      let decoder = JSONDecoder()
      if version == 1 {
        decoder.keyDecodingStrategy = .custom { path in
          guard let key = path.last else { return FieldName(stringValue: "") }
          guard let name = Self.renamedFields[key.stringValue] else { return key }
          return FieldName(stringValue: name)
        }
      }
      read = try decoder.decode(CheckReport.self, from: Data(json))
    } catch let error as ReadingError {
      throw error
    } catch let error as DecodingError {
      throw ReadingError(reason: Self.sentence(error))
    } catch {
      throw ReadingError(reason: "it cannot be read")
    }
    self = read
    self.version = Self.currentVersion
  }

  private static func sentence(_ error: DecodingError) -> String {
    func position(_ context: DecodingError.Context) -> String {
      context.codingPath.map { $0.intValue.map { "\($0)" } ?? $0.stringValue }.joined(separator: ".")
    }
    return switch error {
    case .keyNotFound(let key, let context):
      "\((context.codingPath.isEmpty ? "" : position(context) + ".") + key.stringValue) is missing"
    case .typeMismatch(_, let context), .valueNotFound(_, let context): "\(position(context)) has the wrong type"
    case .dataCorrupted: "it is not JSON, or it contains an unknown value"
    @unknown default: "it cannot be read"
    }
  }
}
