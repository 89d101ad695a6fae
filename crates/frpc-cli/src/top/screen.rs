//! Terminal control of `frpc top`.

use super::view::ScreenLine;
use crossterm::style::{Attribute, Print, SetAttribute};
use crossterm::terminal::{
    BeginSynchronizedUpdate, Clear, ClearType, DisableLineWrap, EnableLineWrap, EndSynchronizedUpdate,
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode, size,
};
use crossterm::{cursor, execute, queue};
use std::io::{self, Write as _, stdout};

/// The terminal, switched to raw mode and its alternate screen. Dropping this value restores the terminal.
pub(super) struct Terminal(());

impl Terminal {
    pub(super) fn open() -> io::Result<Self> {
        let hook = std::panic::take_hook();
        // Restore the terminal first, because the alternate screen would hide the panic message.
        std::panic::set_hook(Box::new(move |info| {
            restore();
            hook(info);
        }));
        enable_raw_mode()?;
        let terminal = Self(());
        execute!(stdout(), EnterAlternateScreen, cursor::Hide, DisableLineWrap)?;
        Ok(terminal)
    }

    /// Draws as many lines as fit on the terminal. `lines` creates them for a given width and height.
    pub(super) fn draw(&mut self, lines: impl FnOnce(usize, usize) -> Vec<ScreenLine>) -> io::Result<()> {
        let (width, height) = size()?;
        let mut out = Vec::new();
        queue!(out, BeginSynchronizedUpdate)?;
        for (row, line) in (0..height).zip(lines(width.into(), height.into())) {
            queue!(out, cursor::MoveTo(0, row), SetAttribute(line.attribute), Print(line.text))?;
            queue!(out, SetAttribute(Attribute::Reset), Clear(ClearType::UntilNewLine))?;
        }
        queue!(out, EndSynchronizedUpdate)?;
        let mut terminal = stdout().lock();
        terminal.write_all(&out)?;
        terminal.flush()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        restore();
    }
}

/// Restores the terminal. Ignores errors, because the terminal may have been closed.
fn restore() {
    let _ = disable_raw_mode();
    let _ = execute!(stdout(), EnableLineWrap, cursor::Show, LeaveAlternateScreen);
}
