import ArgumentParser
import DataMessages
import FoundationEssentials
import OptionValues
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
    help: ArgumentHelp("Refuse larger files: 500kB, 100MB, 2GB.", valueName: "size"), transform: ByteSize.parseFileSize)
  var maxFileSize = ByteSize(bytes: 100_000_000)

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
    plan.maximumFileBytes = maxFileSize.bytes
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
