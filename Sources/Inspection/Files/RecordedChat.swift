import FileSource
import FoundationEssentials
import JSON
import Media

/// The chat beside a recording, `USER.chat.jsonl`: see docs/data-channels.md.
package struct RecordedChat {
  /// A line of the file.
  package struct Message: Decodable, Sendable, Hashable {
    /// In seconds on the axis of the recording.
    package var time: Double
    package var from: String
    package var name: String?
    package var text: String

    package init(time: Double, from: String, name: String? = nil, text: String) {
      (self.time, self.from, self.name, self.text) = (time, from, name, text)
    }
  }

  /// The largest file that is read.
  private static let maximumBytes = 16 << 20

  /// In the order of their times. Lines that are not messages are left out.
  package let messages: [Message]

  /// Reads the chat of a recording; there is none if the file is missing.
  package init(beside recording: FoundRecording) {
    let path = recording.manifest?.path ?? recording.files.first?.path ?? ""
    let folder = path.lastIndex(of: "/").map { path[...$0] } ?? ""
    let name = RecordedName.stem(String(path[folder.endIndex...]))
    // Nobody named the file, so it may be no link, which could lead anywhere, and no pipe, which would be waited for.
    guard let file = try? OpenFile("\(folder)\(name).chat.jsonl", followsLink: false),
      file.size <= UInt64(Self.maximumBytes), let bytes = try? file.bytes(Int(file.size), from: 0)
    else {
      messages = []
      return
    }
    messages = bytes.split(separator: UInt8(ascii: "\n"))
      .compactMap { try? JSONReader.decode(Message.self, from: Data($0), within: .init(values: 64)) }
      .filter { $0.time.isFinite && (0...1e9).contains($0.time) }
      .sorted { $0.time < $1.time }
  }
}
