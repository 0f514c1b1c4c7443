import DataMessages
import FoundationEssentials
import NIOCore

/// What the SkyRTC page of 2013 does with a data channel: it reads fields without checking them, collects the
/// characters of chunks, and decodes the data URL at the end. It throws where the page's script throws.
struct OldPage {
  struct ScriptError: Error { var text: String }

  /// One character of the page's data is one UTF-16 unit; a data URL is ASCII.
  struct Sending {
    var bytes: [UInt8]
    var mediaType: String
    var characters: Substring.UTF8View = ""[...].utf8
    var sent = 0
    var all = 0
    var isSending = false
  }

  struct Message: Decodable {
    var type: String?
    var signal: String?
    var name: String?
    var size: Int?
    var sendId: String?
    var data: String?
    var last: Bool?
    var percent: Double?
  }

  var chat: [String] = []
  var offers: [Message] = []
  var receiving: [String: String] = [:]
  var received: [String: [UInt8]] = [:]
  var percents: [Double] = []
  var sending: [String: Sending] = [:]
  var refused: [String] = []
  /// The files that the user accepts.
  var accepts = true

  /// Handles a message; returns what the page sends.
  mutating func receive(_ text: String) throws -> [String] {
    let json = try JSONDecoder().decode(Message.self, from: Data(text.utf8))
    guard json.type == "__file" else {
      chat.append(json.data ?? "undefined")
      return []
    }
    let id = json.sendId ?? "undefined"
    switch json.signal {
    case "ask":
      offers.append(json)
      if accepts { receiving[id] = "" }
      return [#"{"type":"__file","signal":"\#(accepts ? "accept" : "refuse")","sendId":"\#(id)"}"#]
    case "accept":
      guard var file = sending[id] else { throw ScriptError(text: "accept of \(id)") }
      let url = "data:\(file.mediaType);base64,\(Data(file.bytes).base64EncodedString())"
      file.characters = url[...].utf8
      file.all = url.utf8.count / 1_000
      file.isSending = true
      sending[id] = file
    case "refuse":
      guard sending.removeValue(forKey: id) != nil else { throw ScriptError(text: "refusal of \(id)") }
      refused.append(id)
    case "chunk":
      guard let before = receiving[id] else { throw ScriptError(text: "chunk of \(id)") }
      receiving[id] = before + (json.data ?? "undefined")
      if json.last == true {
        received[id] = try Self.decode(receiving.removeValue(forKey: id) ?? "")
      } else {
        percents.append(json.percent ?? .nan)
      }
    default: break
    }
    return []
  }

  /// What a browser does with the URL of a download.
  private static func decode(_ url: String) throws -> [UInt8] {
    let parts = url.split(separator: ",", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, parts[0].hasPrefix("data:"), parts[0].hasSuffix(";base64"),
      let data = Data(base64Encoded: String(parts[1]))
    else { throw ScriptError(text: "not a data URL") }
    return Array(data)
  }

  mutating func offer(_ name: String, _ bytes: [UInt8], mediaType: String, id: String) -> String {
    sending[id] = Sending(bytes: bytes, mediaType: mediaType)
    return #"{"name":"\#(name)","size":\#(bytes.count),"sendId":"\#(id)","type":"__file","signal":"ask"}"#
  }

  /// One turn of the page's timer: a chunk of each file.
  mutating func tick() -> [String] {
    var messages: [String] = []
    for (id, file) in sending.sorted(by: { $0.key < $1.key }) where file.isSending {
      var file = file
      file.sent += 1
      if file.characters.count > 1_000 {
        let data = Substring(file.characters.prefix(1_000))
        file.characters = file.characters.dropFirst(1_000)
        let percent = Double(file.sent) / Double(file.all) * 100
        messages.append(
          #"{"type":"__file","signal":"chunk","sendId":"\#(id)","last":false,"data":"\#(data)","percent":\#(percent)}"#)
        sending[id] = file
      } else {
        let data = Substring(file.characters)
        messages.append(#"{"type":"__file","signal":"chunk","sendId":"\#(id)","data":"\#(data)","last":true}"#)
        sending[id] = nil
      }
    }
    return messages
  }
}
