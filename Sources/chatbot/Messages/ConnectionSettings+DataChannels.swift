import BotPeer
import Signalling
import SignallingAdapters

extension ConnectionSettings {
  /// The data channels of calls in the address's system; nil where its clients have none.
  var dataChannels: DataChannelOptions? {
    guard let channels = adapter?.capabilities(at: SignallingAddress(server)).dataChannels else { return nil }
    return DataChannelOptions(
      opened: channels.labels.map { DataChannelConfiguration(label: $0) },
      opensWhenAnswering: channels.opensWhenAnswering)
  }
}
