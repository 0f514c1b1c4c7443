import Foundation
import Testing

/// A browser's statistics of one call. Times are in milliseconds since 1970.
struct CallReport: Sendable {
  let json: JSON

  var state: String { json["state"].string ?? "" }

  /// The time of the browser's offer; nil if it answered.
  var offeredAt: Double? { json["offeredAt"].double }
  var connectedAt: Double? { json["connectedAt"].double }
  var reportedAt: Double { json["reportedAt"].double ?? .nan }

  /// The time from the connection to this report, in seconds.
  var length: Double { (reportedAt - (connectedAt ?? .nan)) / 1000 }

  /// The bounds of the length, in seconds, of a call that the page left after this report.
  ///
  /// The page may learn late that the call is connected: media flows at the earliest from the description on. It leaves only
  /// when all its calls have reported.
  var lengths: ClosedRange<Double> { lengths(untilMillisecond: json["leftAt"].double ?? reportedAt) }

  /// The bounds of the length, in seconds, of a call that ended between this report and `date`.
  func lengths(until date: Date) throws -> ClosedRange<Double> {
    _ = try #require(connectedAt)
    return lengths(untilMillisecond: date.timeIntervalSince1970 * 1000)
  }

  private func lengths(untilMillisecond end: Double) -> ClosedRange<Double> {
    let begun = json["offeredAt"].double ?? json["answeredAt"].double ?? .nan
    return length...max(length, (end - begun) / 1000)
  }

  // MARK: Sent

  var framesSent: Int { json["sent"]["video"]["framesSent"].int ?? 0 }
  /// The mean frame rate from the connection to the last statistics.
  var framesSentPerSecond: Double {
    let last = json["sent"]["video"]["timestamp"].double ?? .nan
    return Double(framesSent) / (last - (connectedAt ?? .nan)) * 1000
  }
  var videoPacketsSent: Int { json["sent"]["video"]["packetsSent"].int ?? 0 }
  var audioPacketsSent: Int { json["sent"]["audio"]["packetsSent"].int ?? 0 }
  var keyframeRequestsReceived: Int { json["sent"]["video"]["pliCount"].int ?? 0 }
  var sentSize: String {
    let video = json["sent"]["video"]
    return "\(video["frameWidth"].int ?? 0)x\(video["frameHeight"].int ?? 0)"
  }

  /// The bitrate of the sent video in each second, oldest first.
  var bitrates: [Double] { json["bitrates"].list.compactMap { $0["bitsPerSecond"].double } }

  // MARK: Received

  /// The time of the counters of received video.
  var receivedAt: Double { json["received"]["video"]["timestamp"].double ?? .nan }
  var framesReceived: Int { json["received"]["video"]["framesReceived"].int ?? 0 }
  var framesDecoded: Int { json["received"]["video"]["framesDecoded"].int ?? 0 }
  var packetsLost: Int { json["received"]["video"]["packetsLost"].int ?? 0 }
  var receivedSize: String {
    let video = json["received"]["video"]
    return "\(video["frameWidth"].int ?? 0)x\(video["frameHeight"].int ?? 0)"
  }

  /// The received video statistics of all streams, in the order of their sections.
  var receivedVideos: [JSON] { json["all"]["received"].list.filter { $0["kind"].string == "video" } }

  /// What was observed last of the first track of this kind; a track that pauses and returns is observed again.
  private func track(_ kind: String) -> JSON {
    let tracks = json["tracks"].list.filter { $0["kind"].string == kind }
    return tracks.last { $0["id"].string == tracks.first?["id"].string } ?? .null
  }

  /// The time at which the other side's first video frame was shown.
  var firstVideoFrameAt: Double? { track("video")["firstShownAt"].double }
  /// The number of frames shown since then.
  var videoFramesShown: Int { track("video")["shown"].int ?? 0 }
  /// The times at which the video turned white.
  var flashes: [Double] { track("video")["flashes"].list.compactMap(\.double) }
  /// The times at which the audio turned loud.
  var beeps: [Double] { track("audio")["beeps"].list.compactMap(\.double) }
  /// The highest audio level; 1 is full scale.
  var loudest: Double { track("audio")["loudest"].double ?? 0 }
}
