import FoundationEssentials
import Media

extension CheckReport {
  /// Why a text is not a report.
  public struct ReadingError: Error, Sendable, Hashable, CustomStringConvertible {
    public let reason: String

    public var description: String { "This is not a check's report: \(reason)." }
  }

  /// The report as JSON, with its keys in alphabetical order.
  public var json: String {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
      return String(decoding: try encoder.encode(self), as: UTF8.self) + "\n"
    }
  }

  /// Longer than any text that a check writes.
  private static let maximumRunOutsideASCII = 1_000

  /// Reads a report's JSON. A higher version than ours is refused, since its fields may mean something else.
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
        throw ReadingError(reason: "its version is \(version), and this program knows up to \(Self.currentVersion)")
      }
      read = try JSONDecoder().decode(CheckReport.self, from: Data(json))
    } catch let error as ReadingError {
      throw error
    } catch let error as DecodingError {
      throw ReadingError(reason: Self.sentence(error))
    } catch {
      throw ReadingError(reason: "it cannot be read")
    }
    self = read
  }

  private static func sentence(_ error: DecodingError) -> String {
    func position(_ context: DecodingError.Context) -> String {
      context.codingPath.map { $0.intValue.map { "\($0)" } ?? $0.stringValue }.joined(separator: ".")
    }
    return switch error {
    case .keyNotFound(let key, let context):
      "\((context.codingPath.isEmpty ? "" : position(context) + ".") + key.stringValue) is missing"
    case .typeMismatch(_, let context), .valueNotFound(_, let context): "\(position(context)) is not what it must be"
    case .dataCorrupted: "it is no JSON, or holds a word that is not known"
    @unknown default: "it cannot be read"
    }
  }
}
