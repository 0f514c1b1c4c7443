import ArgumentParser
import DataMessages
import FoundationEssentials
import RoomMessages

/// The options of chat and files, which data channels carry.
struct MessageOptions: ParsableArguments {
  @Option(
    parsing: .singleValue,
    help: ArgumentHelp("Say this to each user once they are connected; repeatable.", valueName: "text"))
  var say: [String] = []

  @Option(
    help: ArgumentHelp("Say each line of this file to each user.", valueName: "file"), completion: .file())
  var sayFile: String?

  @Option(
    parsing: .singleValue, help: ArgumentHelp("Offer this file to each user; repeatable.", valueName: "file"),
    completion: .file())
  var sendFile: [String] = []

  @Option(
    help: ArgumentHelp("Accept the files of users into this folder; it is created if missing.", valueName: "folder"),
    completion: .directory)
  var receiveFiles: String?

  @Option(
    help: ArgumentHelp("Refuse larger files: 500kB, 100MB, 2GB.", valueName: "size"), transform: FileSize.parse)
  var maxFileSize = FileSize(bytes: 100_000_000)

  /// Whether any of them gives the program something to do.
  var areUsed: Bool { !say.isEmpty || sayFile != nil || !sendFile.isEmpty || receiveFiles != nil }

  static let maximumTexts = 1_000

  func validate() throws {
    if say.count > Self.maximumTexts {
      throw ValidationError("--say can be given \(Self.maximumTexts) times, not \(say.count) times.")
    }
    if sendFile.count > DataMessageLimits.maximumTransfers {
      throw ValidationError("--send-file can be given \(DataMessageLimits.maximumTransfers) times.")
    }
    if receiveFiles?.isEmpty == true { throw ValidationError("--receive-files needs the name of a folder.") }
  }

  /// Reads the lines of ``sayFile``, and returns what the call is to do.
  func plan() throws(CallFailure) -> MessagePlan {
    var plan = MessagePlan()
    plan.texts = say + (try Self.texts(in: sayFile))
    plan.sentFiles = sendFile
    plan.receivedFiles = receiveFiles
    plan.maximumFileBytes = Int64(maxFileSize.bytes)
    return plan
  }

  /// Returns the lines of a file; none without one.
  static func texts(in path: String?) throws(CallFailure) -> [String] {
    guard let path else { return [] }
    let bytes: Data
    do {
      bytes = try BoundedFile.read(path, longest: 1 << 20)
    } catch {
      throw CallFailure(.fileNotPlayable, error.sentence)
    }
    return String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline).prefix(maximumTexts)
      .map(String.init)
  }
}

/// A size in bytes on the command line.
struct FileSize: Sendable, Hashable, CustomStringConvertible {
  let bytes: Int

  var description: String { bytes.isMultiple(of: 1_000_000) ? "\(bytes / 1_000_000)MB" : "\(bytes)" }

  /// For `transform:`, whose errors ArgumentParser prints as they are.
  @Sendable static func parse(_ text: String) throws -> FileSize {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    let units: [String: Int] = [
      "": 1, "b": 1, "kb": 1_000, "mb": 1_000_000, "gb": 1_000_000_000, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30,
    ]
    guard let number = Int(digits), number > 0, let unit = units[text.dropFirst(digits.count).lowercased()] else {
      throw ValidationError("A size is a number with a unit, such as 500kB, 100MB or 2GB, not \(text).")
    }
    let (bytes, overflow) = number.multipliedReportingOverflow(by: unit)
    guard !overflow, bytes <= 1 << 50 else { throw ValidationError("The size \(text) is too large.") }
    return FileSize(bytes: bytes)
  }
}
